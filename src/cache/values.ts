/**
 * A value on its way in: encoded once, and what callers get is the decoded copy, so that a miss
 * gives what a hit will give. What cannot be stored is answered as it is, never refused to its callers.
 */
import { crc32 } from 'node:zlib'
import { approximateSize } from '../core/approximate-size.ts'
import { deepFreeze } from '../core/freeze.ts'
import { packFrame, packHead, type Crc32 } from '../core/frame.ts'
import type { Head } from '../core/head.ts'
import { Unstorable } from '../core/unstorable.ts'
import type { Entry } from './entry.ts'
import type { EntryRules } from './options.ts'

export const crc: Crc32 = crc32

export type Prepared =
  | {
      readonly type: 'storable'
      readonly value: unknown
      /** `undefined` where nothing needs bytes. */
      readonly payload: Uint8Array | undefined
      readonly size: number
    }
  | { readonly type: 'unstorable'; readonly path: string }

export function prepare(value: unknown, rules: EntryRules, forStore: boolean): Prepared {
  if (!forStore && (rules.values === 'share' || isScalar(value))) {
    if (typeof value === 'string' && value.length > rules.maxBytes)
      return tooLarge(value.length, rules)
    return { type: 'storable', value, payload: undefined, size: approximateSize(value) }
  }
  try {
    const payload = rules.codec.encode(value)
    const size = payload.length
    if (size > rules.maxBytes) {
      return tooLarge(size, rules)
    }
    return { type: 'storable', value: copy(value, payload, rules), payload, size }
  } catch (error) {
    return {
      type: 'unstorable',
      path: error instanceof Unstorable ? error.message : `$: ${String(error)}`,
    }
  }
}

function tooLarge(bytes: number, rules: EntryRules): Prepared {
  return { type: 'unstorable', path: `$: ${bytes} bytes, over maxBytes (${rules.maxBytes})` }
}

/** What cannot be encoded is given as it is. */
function cloned(value: unknown, rules: EntryRules): unknown {
  if (isScalar(value)) return value
  try {
    return rules.codec.decode(rules.codec.encode(value))
  } catch {
    return value
  }
}

function copy(value: unknown, payload: Uint8Array, rules: EntryRules): unknown {
  if (rules.values === 'share' || isScalar(value)) return value
  return decoded(payload, rules)
}

/** What a payload from the store becomes. */
export function decoded(payload: Uint8Array, rules: EntryRules): unknown {
  const { codec } = rules
  if (rules.values !== 'freeze') return codec.decode(payload)
  if (codec.decodeFrozen !== undefined) return codec.decodeFrozen(payload)
  return deepFreeze(codec.decode(payload))
}

/** What one caller is given. */
export function given(entry: Entry, rules: EntryRules): unknown {
  const { payload, value } = entry
  if (payload === undefined && (entry.values === rules.values || rules.values === 'share')) {
    return rules.values === 'clone' ? cloned(value, rules) : value
  }
  // Of a call that gives its values in another way than this one.
  const own = payload === undefined ? cloned(value, rules) : entry.codec!.decode(payload)
  // What cannot be copied is given as it is, and is not ours to freeze.
  return rules.values === 'freeze' && own !== value ? deepFreeze(own) : own
}

/** Bytes that memory must keep, for callers who get a copy each. */
export function keptPayload(
  value: unknown,
  payload: Uint8Array | undefined,
  rules: EntryRules,
): Uint8Array | undefined {
  return rules.values === 'clone' && !isScalar(value) ? payload : undefined
}

function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'number':
    case 'boolean':
    case 'undefined':
      return true
    default:
      return value === null
  }
}

export function frameOf(head: Head, payload: Uint8Array, rules: EntryRules): Uint8Array {
  return packFrame(head, { codec: rules.codec.id, payload }, crc)
}

export function headOf(head: Head): Uint8Array {
  return packHead(head, crc)
}
