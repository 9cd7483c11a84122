/**
 * Names of options. One that nobody knows is refused, with the nearest that somebody does: an
 * option that is silently not there is found out in the outage it was meant for (T162).
 */
import { BreakwaterError, invalidOption } from './errors.ts'

/** Known names of one level. */
export interface Level {
  readonly names: ReadonlySet<string>
  /** Names of another level, and a word on where they belong. */
  readonly elsewhere?: { readonly names: ReadonlySet<string>; readonly where: string }
}

/** A function may be without methods of its own: a schema of arktype is. */
const { bind } = Function.prototype

export type Given = Readonly<Record<string, unknown>>

/**
 * What is given, with its names checked: a copy, in which every option was read once, inherited
 * ones and getters too (a class may hold the configuration). `undefined` means "not given", also
 * for a name that nobody knows.
 */
export function checkNames(given: unknown, level: Level, prefix: string): Given {
  if (typeof given !== 'object' || given === null || Array.isArray(given)) {
    throw invalidOption(prefix === '' ? 'options' : prefix.slice(0, -1), 'an object', given)
  }
  const options = given as Given
  for (const name of Object.keys(options)) {
    if (level.names.has(name) || options[name] === undefined) continue
    throw new BreakwaterError('INVALID_OPTION', prefix + complaint(name, level, prefix))
  }
  const read: Record<string, unknown> = {}
  for (const name of level.names) {
    const option = options[name]
    // Functions as methods of the user's object, which may use `this`.
    if (typeof option === 'function') read[name] = bind.call(option, options)
    else if (option !== undefined) read[name] = option
  }
  return read
}

function complaint(name: string, level: Level, prefix: string): string {
  if (level.elsewhere?.names.has(name)) return `${name}: is an option of ${level.elsewhere.where}`
  const near = nearest(name, level.names)
  return near === undefined
    ? `${name}: unknown option; known are ${[...level.names].join(', ')}`
    : `${name}: unknown option, did you mean ${prefix}${near}?`
}

function nearest(name: string, known: Iterable<string>): string | undefined {
  let best: string | undefined
  let bestDistance = Math.max(2, Math.ceil(name.length / 3)) + 1
  for (const candidate of known) {
    const distance = editDistance(name.toLowerCase(), candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

/** Levenshtein: insertions, deletions and replacements from one to the other. */
function editDistance(from: string, to: string): number {
  // Option names are short; nobody waits for a page of text to be compared with them.
  if (from.length > 64) return from.length
  let row = Array.from({ length: to.length + 1 }, (_, j) => j)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      const replaced = row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)
      next.push(Math.min(replaced, row[j]! + 1, next[j - 1]! + 1))
    }
    row = next
  }
  return row[to.length]!
}
