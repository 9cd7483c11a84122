/**
 * `Cache-Control`, read tolerantly (RFC 9111, 5.2): lists with empty members, arguments as tokens or
 * quoted strings, any case, directives that nobody knows. What restricts is never lost: a member
 * that follows no grammar still counts as each restrictive directive that stands in it, and an age
 * that is invalid, or given twice and not the same, is 0 (4.2.1). Nothing throws.
 */

/** What is over it is reckoned as this (RFC 9111, 1.2.2). */
export const mostSeconds = 2 ** 31

const restrictive: ReadonlySet<string> = new Set([
  'no-store',
  'no-cache',
  'private',
  'must-revalidate',
  'proxy-revalidate',
])

export function isRestrictive(name: string): boolean {
  return restrictive.has(name)
}

/** `undefined` for a directive without an argument. */
type Argument = string | undefined

export class Directives {
  /** Whether a field of its own gave them, in place of `Cache-Control` and `Expires` (RFC 9213). */
  readonly isTargeted: boolean
  readonly #given: ReadonlyMap<string, readonly Argument[]>

  constructor(given: ReadonlyMap<string, readonly Argument[]>, isTargeted = false) {
    this.#given = given
    this.isTargeted = isTargeted
  }

  get isEmpty(): boolean {
    return this.#given.size === 0
  }

  has(name: string): boolean {
    return this.#given.has(name)
  }

  /** The argument, without quotes; of several, the first. */
  text(name: string): string | undefined {
    return this.#given.get(name)?.[0]
  }

  /** `undefined` if the directive is not there; 0 if it is not one whole number. */
  seconds(name: string): number | undefined {
    const given = this.#given.get(name)
    if (given === undefined) return undefined
    const [first] = given
    if (first === undefined || !digits.test(first)) return 0
    const seconds = Number(first)
    if (given.some((other) => other === undefined || Number(other) !== seconds)) return 0
    return Math.min(seconds, mostSeconds)
  }

  /** As a field's value, from which the same directives are read again. */
  toString(): string {
    const members: string[] = []
    for (const [name, given] of this.#given) {
      for (const argument of given) members.push(member(name, argument))
    }
    return members.join(', ')
  }
}

const digits = /^\d+$/
const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
const tokens = /[!#$%&'*+\-.^_`|~0-9A-Za-z]+/g

function member(name: string, argument: Argument): string {
  if (argument === undefined) return name
  return `${name}=${token.test(argument) ? argument : `"${argument.replace(/["\\]/g, '\\$&')}"`}`
}

const none = new Directives(new Map())

// A quoted argument up to the comma behind it; else whatever stands there up to the next comma. A
// quote that nobody closes, or with something behind its end, quotes nothing: it would hide the rest.
const memberAt = /([^,="]*)(?:=[\t ]*"((?:[^"\\]|\\[^])*)"[\t ]*|=([^,]*)|([^,]*))(?:,|$)/y

export function parseCacheControl(text: string | undefined): Directives {
  if (text === undefined || text === '') return none
  const given = new Map<string, Argument[]>()
  const add = (name: string, argument: Argument): void => {
    const list = given.get(name)
    if (list === undefined) given.set(name, [argument])
    else list.push(argument)
  }
  memberAt.lastIndex = 0
  while (memberAt.lastIndex < text.length) {
    const found = memberAt.exec(text)
    if (found === null) break
    const [all, before = '', quoted, bare, rest = ''] = found
    const name = before.trim()
    if (token.test(name) && rest.trim() === '') {
      const argument = quoted === undefined ? bare?.trim() : quoted.replace(/\\([^])/g, '$1')
      add(name.toLowerCase(), argument)
      if (bare === undefined || token.test(bare.trim())) continue
    }
    // No member by the grammar. Words that restrict are taken out of it.
    for (const word of (quoted === undefined ? all : name).match(tokens) ?? []) {
      const lower = word.toLowerCase()
      if (isRestrictive(lower) && !given.has(lower)) add(lower, undefined)
    }
  }
  return given.size === 0 ? none : new Directives(given)
}
