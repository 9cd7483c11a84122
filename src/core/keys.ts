/**
 * What an entry is called. Injective (two arguments never share a key), stable (the order of
 * properties does not matter), readable. The first character says what follows: `r` an argument of
 * a resource, `k` a one-off key, so that neither can reach into the other.
 */
import { charCode } from './char-code.ts'
import { canonical, NotCanonical } from './canonical.ts'
import { BreakwaterError } from './errors.ts'
import { escapeKey } from './escape.ts'

const hash = 35 // '#'
const quote = 39 // "'"
const tilde = 126 // '~'

/** An argument as text. A string is itself, unless it could be taken for something else. */
export function keyText(arg: unknown): string {
  switch (typeof arg) {
    case 'string': {
      const first = charCode(arg, 0)
      return first === hash || first === quote || first === tilde ? `'${arg}` : arg
    }
    case 'number':
      if (Number.isNaN(arg)) throw invalidKey('NaN')
      return `#${arg}`
    case 'bigint':
      return `#${arg}n`
    case 'boolean':
      return arg ? '~true' : '~false'
    case 'undefined':
      return '~'
    case 'object':
      return arg === null ? '~null' : structured(arg)
    default:
      throw invalidKey(`a ${typeof arg}`)
  }
}

function structured(arg: object): string {
  try {
    return `~${canonical(arg)}`
  } catch (error) {
    // Anything else comes from the argument's own code: a getter, a proxy, the end of the stack.
    throw error instanceof NotCanonical
      ? invalidKey(error.message)
      : invalidKey('an object that threw while it was read', error)
  }
}

function invalidKey(got: string, cause?: unknown): BreakwaterError {
  return new BreakwaterError(
    'INVALID_KEY',
    `key: expected text, numbers, booleans, null, Dates, plain objects or arrays of these, got ${got}; ` +
      'give the definition a `key` function that names the entry by such a value, as in `key: (user) => user.id`',
    cause === undefined ? {} : { cause },
  )
}

/** What all keys of a resource begin with. Made once per definition. */
export function resourcePrefix(name: string, version: string | number | undefined): string {
  const label = escapeLabel(name)
  return version === undefined ? `r:${label}:` : `r:${label}@${escapeLabel(String(version))}:`
}

export function entryKey(
  name: string,
  version: string | number | undefined,
  argText: string,
): string {
  return resourcePrefix(name, version) + argText
}

/** The key of an entry that belongs to no resource. */
export function oneOffKey(key: string): string {
  if (typeof key !== 'string') {
    throw new BreakwaterError(
      'INVALID_KEY',
      `key: expected text, got ${typeof key}; build it with a template string`,
    )
  }
  return `k:${key}`
}

const delimiters = /[:@%]/g

function escapeLabel(label: string): string {
  return label.replace(delimiters, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}

const maxBytes = 512
const prefixLength = 128
const mark = '~h:'
/** SHA-256 as base64url. */
const digestLength = 43

/**
 * A key of any length to one of at most 512 bytes. A key that already looks shortened is hashed
 * too: otherwise whoever knows a long key could ask for the short one and get its entry.
 */
export function shortKey(key: string, digest: (text: string) => string): string {
  if (key.length * 3 <= maxBytes) {
    if (!looksShortened(key)) return key
  } else if (key.length <= maxBytes && Buffer.byteLength(key) <= maxBytes && !looksShortened(key)) {
    return key
  }
  // Escaped first: UTF-8 would make all lone surrogates the same.
  const hashed = digest(escapeKey(key))
  if (hashed.length !== digestLength) {
    throw new RangeError(`digest: expected ${digestLength} characters, got ${hashed.length}`)
  }
  return key.slice(0, prefixLength).replace(/[\ud800-\udbff]$/, '') + mark + hashed
}

/** What all keys of a resource that were shortened begin with, where its own prefix is not all there. */
export function shortenedPrefix(prefix: string): string | undefined {
  if (prefix.length <= prefixLength) return undefined
  return prefix.slice(0, prefixLength).replace(/[\ud800-\udbff]$/, '') + mark
}

function looksShortened(key: string): boolean {
  const at = key.length - digestLength - mark.length
  return at >= 0 && key.charCodeAt(at) === tilde && key.startsWith(mark, at)
}
