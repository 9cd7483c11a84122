/** What a person may call an entry, as the keys that it can have. */
import { digest } from '../cache/digest.ts'
import { entryKey, keyText, oneOffKey, shortKey } from '../core/keys.ts'

export interface KeyParts {
  /** Of the definition. */
  readonly resource: string
  readonly version?: string | number | undefined
  /** What its `key` function gives, or the argument itself. None: a definition without a parameter. */
  readonly arg?: unknown
}

/** The same as `resource.key(arg)`, where there is no cache that defines it. */
export function keyOf({ resource, version, arg }: KeyParts): string {
  return shortKey(entryKey(resource, version, keyText(arg)), digest)
}

/** First what it says it is, as `resource.key(arg)` gives it; then a one-off key of the same text. */
export function keysOf(text: string): readonly string[] {
  const oneOff = shortKey(oneOffKey(text), digest)
  return /^(r:[^:]+:|k:)/.test(text) ? [text, oneOff] : [oneOff]
}
