/**
 * A value on its way in: encoded once, and what callers get is the decoded copy, so that a miss
 * gives what a hit will give. What cannot be stored is answered as it is, never refused to its callers.
 */
import { crc32 } from 'node:zlib'
import { approximateSize } from '../core/approximate-size.ts'
import { describe } from '../core/errors.ts'
import { deepFreeze } from '../core/freeze.ts'
import { packFrame, packHead, type Body, type Crc32 } from '../core/frame.ts'
import type { Head } from '../core/head.ts'
import { Unstorable as CannotStore } from '../core/unstorable.ts'
import type { CodecPort } from '../ports.ts'
import { slowCodec } from './count.ts'
import type { Engine } from './engine.ts'
import type { Entry } from './entry.ts'
import type { EntryRules } from './options.ts'

export const crc: Crc32 = crc32

/** From here on a value is decoded in pieces, and never in the turn in which something else was done with it. */
const bigBytes = 256 * 1024

export function isBig(bytes: number): boolean {
  return bytes > bigBytes
}

interface Unstorable {
  readonly type: 'unstorable'
  readonly path: string
}

export type Encoded =
  | Unstorable
  | {
      readonly type: 'storable'
      /** `undefined` where nothing needs bytes. */
      readonly payload: Uint8Array | undefined
      readonly size: number
    }

export type Copied = Unstorable | { readonly type: 'copied'; readonly value: unknown }

/** Whose value it is, for what is told of it. */
export interface Owner {
  readonly name: string
  readonly key: string
  readonly rules: EntryRules
}

const roomyBytes = 1024 * 1024

/** To be waited for before a big value is encoded. */
export function roomFor(engine: Engine, value: unknown, owner: Owner): Promise<void> | undefined {
  const { codec, values, store, maxBytes } = owner.rules
  if (codec.makeRoom === undefined || (values === 'share' && !store)) return undefined
  const bytes = ArrayBuffer.isView(value)
    ? value.byteLength
    : (engine.bigSizes.get(owner.name) ?? bytesOfList(value, codec))
  if (bytes === undefined || bytes < roomyBytes) return undefined
  // Without it, encoding takes longer, and no more.
  return codec.makeRoom(Math.min(bytes, maxBytes), engine.slices()).catch(() => {})
}

const sampleItems = 32

/** Of a long list: as many as there would be if all items were like some of them. */
function bytesOfList(value: unknown, codec: CodecPort): number | undefined {
  if (!Array.isArray(value) || value.length < sampleItems * sampleItems) return undefined
  const step = Math.floor(value.length / sampleItems)
  const sample = Array.from({ length: sampleItems }, (_, n) => value[n * step] as unknown)
  try {
    return (codec.encode(sample).length / sampleItems) * value.length
  } catch {
    return undefined // It will be refused, with its own path.
  }
}

export function encoded(engine: Engine, value: unknown, owner: Owner, forStore: boolean): Encoded {
  const { rules } = owner
  if (!forStore && (rules.values === 'share' || isScalar(value))) {
    if (typeof value === 'string' && value.length > rules.maxBytes)
      return tooLarge(value.length, rules)
    return { type: 'storable', payload: undefined, size: approximateSize(value) }
  }
  try {
    const since = engine.clock.now()
    const payload = rules.codec.encode(value)
    const size = payload.length
    slowCodec(engine, owner, 'encode', { bytes: size, since })
    if (size >= roomyBytes) engine.bigSizes.set(owner.name, size)
    return size > rules.maxBytes ? tooLarge(size, rules) : { type: 'storable', payload, size }
  } catch (error) {
    return unstorable(error)
  }
}

function unstorable(error: unknown): Unstorable {
  const path = error instanceof CannotStore ? error.message : `$: ${asText(error)}`
  return { type: 'unstorable', path }
}

/** A codec of the user's may throw what has no text. */
function asText(error: unknown): string {
  try {
    return String(error)
  } catch {
    return describe(error)
  }
}

function tooLarge(bytes: number, rules: EntryRules): Unstorable {
  return { type: 'unstorable', path: `$: ${bytes} bytes, over maxBytes (${rules.maxBytes})` }
}

/** As the store would give it back. What cannot be encoded is given as it is. */
export function cloned(value: unknown, rules: EntryRules): unknown {
  if (isScalar(value)) return value
  try {
    return rules.codec.decode(rules.codec.encode(value))
  } catch {
    return value
  }
}

/** What callers share of a value that was encoded. A promise for a big one alone. */
export function copied(
  engine: Engine,
  value: unknown,
  payload: Uint8Array | undefined,
  owner: Owner,
): Copied | Promise<Copied> {
  const { rules } = owner
  if (payload === undefined || rules.values === 'share' || isScalar(value)) return asItIs(value)
  const { codec } = rules
  if (isBig(payload.length)) {
    return engine
      .turn()
      .then(() => copyLater(engine, payload, { ...owner, codec }))
      .then(asItIs, unstorable)
  }
  try {
    return asItIs(decoded(payload, rules, codec))
  } catch (error) {
    return unstorable(error)
  }
}

function asItIs(value: unknown): Copied {
  return { type: 'copied', value }
}

/** So many that they are not to be touched in one go, and no more than may be stored. */
export function isManyBytes(value: unknown, { maxBytes }: EntryRules): boolean {
  if (!Buffer.isBuffer(value)) return false
  return value.length >= roomyBytes && value.length + encodedMore <= maxBytes
}

/** What a codec adds to bytes, and more. */
const encodedMore = 64

/** What a payload becomes. */
export function decoded(payload: Uint8Array, rules: EntryRules, codec: CodecPort): unknown {
  if (rules.values !== 'freeze') return codec.decode(payload)
  if (codec.decodeFrozen !== undefined) return codec.decodeFrozen(payload)
  return deepFreeze(codec.decode(payload))
}

/** The same for a big one: in pieces, where its codec knows how. */
export async function copyLater(
  engine: Engine,
  payload: Uint8Array,
  owner: Owner & { readonly codec: CodecPort },
): Promise<unknown> {
  const { rules, codec } = owner
  if (codec.decodeInPieces !== undefined) {
    return codec.decodeInPieces(payload, {
      frozen: rules.values === 'freeze',
      pause: engine.slices(),
    })
  }
  const since = engine.clock.now()
  const value = decoded(payload, rules, codec)
  slowCodec(engine, owner, 'decode', { bytes: payload.length, since })
  return value
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

export function frameOf(head: Head, body: Body): Uint8Array {
  return packFrame(head, body, crc)
}

export function headOf(head: Head): Uint8Array {
  return packHead(head, crc)
}
