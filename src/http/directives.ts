/**
 * Which directives an answer is under: those of the first targeted field that is there, valid and
 * not empty (RFC 9213, 2.2), else those of `Cache-Control`.
 */
import { parseDictionary, Token, type BareItem, type Dictionary } from 'structured-headers'
import { Directives, isRestrictive, parseCacheControl } from './cache-control.ts'
import { field, type Fields } from './message.ts'

/** `targets`: lower-case names of fields, the most specific first. */
export function directivesOf(fields: Fields, targets: readonly string[]): Directives {
  for (const target of targets) {
    const text = field(fields, target)
    const directives = text === undefined ? undefined : targeted(text)
    if (directives !== undefined) return directives
  }
  return parseCacheControl(field(fields, 'cache-control'))
}

function targeted(text: string): Directives | undefined {
  let dictionary: Dictionary
  try {
    dictionary = parseDictionary(text)
  } catch {
    // "MUST be ignored", all of it: the next field counts.
    return undefined
  }
  if (dictionary.size === 0) return undefined
  const given = new Map<string, readonly (string | undefined)[]>()
  for (const [name, [value]] of dictionary) {
    const argument = Array.isArray(value) ? null : argumentOf(name, value)
    if (argument !== null) given.set(name, [argument])
  }
  return new Directives(given, true)
}

const inSeconds: ReadonlySet<string> = new Set([
  'max-age',
  's-maxage',
  'stale-while-revalidate',
  'stale-if-error',
])

/** `null` where the value is of no type that the directive may have: then it is not there. */
function argumentOf(name: string, value: BareItem): string | undefined | null {
  if (inSeconds.has(name)) return Number.isInteger(value) ? String(value) : null
  if (value === false) return null
  if (value === true) return undefined
  if (typeof value === 'string' || typeof value === 'number') return String(value)
  if (value instanceof Token) return value.toString()
  // To keep less than one may is always right.
  return isRestrictive(name) ? undefined : null
}
