/**
 * The default codec: MessagePack by msgpackr, with the shapes of records inside each value, so that
 * any process can read it alone. msgpackr alone changes −0, `__proto__`, lone surrogates, errors
 * and more without a word; what it would change is marked before (storable.ts) and restored after.
 * Marks are `[C1, tag, data]`: token 0xC1 is the one that no value has. Its extensions are not
 * used, since their registry is shared with whatever else in the process uses msgpackr.
 */
import { C1, Packr } from 'msgpackr'
import { port } from '../ports.ts'
import type { Codec, CodecPort } from '../ports.ts'
import { deepFreeze } from '../core/freeze.ts'
import { Unstorable } from '../core/unstorable.ts'
import { tags, unmark } from './marks.ts'
import type { Tag } from './marks.ts'
import { checkMessagePack, maxShapes, type Checked } from './msgpack-check.ts'
import { revive } from './revive.ts'
import type { Marks } from './revive.ts'
import { storable } from './storable.ts'
import type { Format } from './storable.ts'

/** MessagePack; the default. Keeps what docs/codecs.md lists. */
export function msgpack(): Codec {
  return messagePack
}

const codes = new Map<Tag, number>(tags.map((tag, code) => [tag, code]))

const minInt64 = -(2n ** 63n)
const maxInt64 = 2n ** 63n - 1n

const format: Format = {
  mark: (tag, data) => [C1, codes.get(tag), data],
  bytes: (bytes) => bytes,
  keepsUndefined: true,
  keepsBuffer: true,
  keepsNumber: (value) => value !== 0 || 1 / value > 0,
  keepsBigint: (value) => value >= minInt64 && value <= maxInt64,
  keepsText: isWellFormed,
  keepsName,
}

const marks: Marks = {
  dataOf: (value) =>
    Array.isArray(value) && value[0] === C1 ? { tag: value[1], data: value[2] } : undefined,
  unmark(code, data) {
    const tag = tags[code as number]
    if (tag === undefined) throw new Error('malformed MessagePack: an unknown mark')
    return unmark(tag, data, bytesOf)
  },
}

const options = {
  copyBuffers: true, // else a decoded Buffer is a piece of the frame, and keeps all of it
  structuredClone: false, // else bytes can make cycles
  mapsAsObjects: true,
}
const records = new Packr({ ...options, useRecords: true })
/** `freezeData` is documented, and missing in the types. */
const freezing = { ...options, useRecords: true, freezeData: true }
const frozenRecords = new Packr(freezing)
const maps = new Packr({ ...options, useRecords: false, variableMapSize: true })

/** Over this, the encoder's working buffer is not kept for the next value. */
const keptBuffer = 256 * 1024
/** Fewer bytes than this cannot hold too many shapes. */
const suspiciousLength = maxShapes * 4

export const messagePack: CodecPort = {
  [port]: 'codec',
  id: 1,
  name: 'msgpack',

  encode(value) {
    const data = storable(value, format)
    let bytes = pack(records, data)
    if (bytes.length > suspiciousLength && checkMessagePack(bytes).shapes > maxShapes) {
      bytes = pack(maps, data)
    }
    // A copy: what the encoder gives is a piece of its working buffer.
    const own = Buffer.allocUnsafeSlow(bytes.length)
    own.set(bytes)
    if (bytes.length > keptBuffer) records.useBuffer(Buffer.allocUnsafeSlow(8192))
    return own
  },

  decode(bytes) {
    const buffer = asBuffer(bytes)
    const { marked } = checked(buffer)
    const value: unknown = records.unpack(buffer)
    return marked ? revive(value, marks) : value
  },

  decodeFrozen(bytes) {
    const buffer = asBuffer(bytes)
    const { marked, maps: hasMaps } = checked(buffer)
    // Frozen as it is made: half the price of a walk. msgpackr does so for records and arrays only.
    if (!marked && !hasMaps) return frozenRecords.unpack(buffer) as unknown
    const value: unknown = records.unpack(buffer)
    return deepFreeze(marked ? revive(value, marks) : value)
  },
}

function asBuffer(bytes: Uint8Array): Buffer {
  if (Buffer.isBuffer(bytes)) return bytes
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function checked(buffer: Buffer): Checked {
  const found = checkMessagePack(buffer)
  if (found.shapes > maxShapes) throw new Error('malformed MessagePack: too many shapes')
  return found
}

function pack(packr: Packr, data: unknown): Buffer {
  try {
    return packr.pack(data)
  } catch (error) {
    throw new Unstorable('$', error instanceof Error ? error.message : String(error))
  }
}

function bytesOf(data: unknown): Buffer {
  if (Buffer.isBuffer(data)) return data
  throw new Error('malformed MessagePack: bytes expected')
}

/** Names that msgpackr renames (`__proto__`) or lets decide how the object is written. */
function keepsName(name: string): boolean {
  if (name === '__proto__' || name === 'constructor' || name === 'toJSON') return false
  return isWellFormed(name)
}

/** ES2024, in every Node that we support; not yet in our `lib`. */
function isWellFormed(text: string): boolean {
  return (text as string & { isWellFormed(): boolean }).isWellFormed()
}
