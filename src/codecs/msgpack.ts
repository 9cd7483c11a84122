/**
 * The default codec: MessagePack by msgpackr, with the shapes of records inside each value, so that
 * any process can read it alone. msgpackr alone changes −0, `__proto__`, lone surrogates, errors
 * and more without a word; what it would change is marked before (storable.ts) and restored after.
 * Marks are `[C1, tag, data]`: token 0xC1 is the one that no value has. Its extensions are not
 * used, since their registry is shared with whatever else in the process uses msgpackr.
 */
import { Packr } from 'msgpackr'
import { port } from '../ports.ts'
import type { Codec, CodecPort, InPieces } from '../ports.ts'
import { deepFreeze } from '../core/freeze.ts'
import { memoryInSteps } from '../core/memory.ts'
import { Unstorable } from '../core/unstorable.ts'
import { checkMessagePack, maxShapes, type Checked } from './msgpack-check.ts'
import { format, marks, options } from './msgpack-format.ts'
import { decodePieces, pieceLength } from './msgpack-pieces.ts'
import { revive } from './revive.ts'
import { measured } from './storable.ts'

/** MessagePack; the default. Keeps what docs/codecs.md lists. */
export function msgpack(): Codec {
  return messagePack
}

const records = new Packr({ ...options, useRecords: true })
/** `freezeData` is documented, and missing in the types. */
const freezing = { ...options, useRecords: true, freezeData: true }
const frozenRecords = new Packr(freezing)
const maps = new Packr({ ...options, useRecords: false, variableMapSize: true })

/** Over this, the encoder gets a buffer for the value alone, which is not kept for the next one. */
const bigLength = 64 * 1024
/** What the encoder wants to be free at the end of its buffer, and more. */
const margin = 4_096
/** Fewer bytes than this cannot hold too many shapes. */
const suspiciousLength = maxShapes * 4

export const messagePack: CodecPort = {
  [port]: 'codec',
  id: 1,
  name: 'msgpack',

  encode(value) {
    const made = room
    room = undefined
    const { data, size } = measured(value, format)
    if (size > bigLength) return packedBig(data, size, made)
    // A copy: what the encoder gives is a piece of its working buffer.
    return copyOf(packed(data))
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

  async makeRoom(bytes, pause) {
    room = await memoryInSteps(Math.ceil(bytes * 1.05) + margin, pause)
  },

  decodeInPieces: (bytes, how) => decodedInPieces(bytes, how, pieceLength),
}

/** Apart, so that tests can have short pieces of short values. */
export async function decodedInPieces(
  bytes: Uint8Array,
  how: InPieces,
  length: number,
): Promise<unknown> {
  if (bytes.length <= length) {
    return how.frozen ? messagePack.decodeFrozen!(bytes) : messagePack.decode(bytes)
  }
  const buffer = asBuffer(bytes)
  const { marked, maps } = checked(buffer)
  return decodePieces(buffer, { how, length, marked, maps })
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

/** For the next big value. */
let room: Buffer | undefined

function packedBig(data: unknown, size: number, made: Buffer | undefined): Buffer {
  const isRoomy = made !== undefined && made.length >= size + margin
  const memory = isRoomy ? made : Buffer.allocUnsafeSlow(size + margin)
  const bytes = packedInto(memory, data)
  return isFull(bytes) ? bytes : copyOf(bytes)
}

/** In a buffer of its own that is about as long: growing would copy it again and again. */
function packedInto(memory: Buffer, data: unknown): Buffer {
  records.useBuffer(memory)
  try {
    return packed(data)
  } finally {
    records.useBuffer(Buffer.allocUnsafeSlow(8192))
  }
}

/** Whether so little of the memory that it is in is wasted that a copy would be a waste, too. */
function isFull(bytes: Buffer): boolean {
  return bytes.buffer.byteLength - bytes.length <= bytes.length / 8
}

function packed(data: unknown): Buffer {
  const bytes = pack(records, data)
  if (bytes.length <= suspiciousLength) return bytes
  return checkMessagePack(bytes).shapes > maxShapes ? pack(maps, data) : bytes
}

/** Not from a pool: it may be kept for as long as the entry lives. */
function copyOf(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}

function pack(packr: Packr, data: unknown): Buffer {
  try {
    return packr.pack(data)
  } catch (error) {
    throw new Unstorable('$', error instanceof Error ? error.message : String(error))
  }
}
