/**
 * The default codec: MessagePack, with the shapes of records inside each value, so that any process
 * can read it alone. We write it (msgpack-encode.ts), msgpackr reads it. What MessagePack has no form
 * for, or msgpackr would change without a word (`__proto__`, lone surrogates), is marked and restored
 * after. Marks are `[C1, tag, data]`: token 0xC1 is the one that no value has. Extensions of msgpackr
 * are not used, since their registry is shared with whatever else in the process uses it.
 */
import { asBuffer } from '../core/as-buffer.ts'
import { Unpackr } from 'msgpackr'
import { port } from '../ports.ts'
import type { Codec, CodecPort, InPieces } from '../ports.ts'
import { deepFreeze } from '../core/freeze.ts'
import { memoryInSteps } from '../core/memory.ts'
import { checkMessagePack, maxShapes, type Checked } from './msgpack-check.ts'
import { Encoder } from './msgpack-encode.ts'
import { marks, options } from './msgpack-format.ts'
import { decodePieces, pieceLength } from './msgpack-pieces.ts'
import { revive } from './revive.ts'

/** MessagePack; the default. Keeps what docs/codecs.md lists. */
export function msgpack(): Codec {
  return messagePack
}

const records = new Unpackr({ ...options, useRecords: true })
/** `freezeData` is documented, and missing in the types. */
const freezing = { ...options, useRecords: true, freezeData: true }
const frozenRecords = new Unpackr(freezing)

export const messagePack: CodecPort = {
  [port]: 'codec',
  id: 1,
  name: 'msgpack',

  encode(value) {
    const made = room
    room = undefined
    const encoder = idle ?? new Encoder()
    idle = undefined
    try {
      return encoder.encode(value, made)
    } finally {
      idle = encoder
    }
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
    // It may have grown since.
    room = await memoryInSteps(Math.ceil(bytes * 1.05) + 4_096, pause)
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

function checked(buffer: Buffer): Checked {
  const found = checkMessagePack(buffer)
  if (found.shapes > maxShapes) throw new Error('malformed MessagePack: too many shapes')
  return found
}

/** For the next big value. */
let room: Buffer | undefined
/** Kept for its memory. None while it encodes: code of the value may have something encoded, too. */
let idle: Encoder | undefined
