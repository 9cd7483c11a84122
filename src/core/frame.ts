/**
 * An entry as bytes: a head (what is known of the value) and a body (the value by its codec).
 * Lua scripts touch the head at fixed offsets (`frameLayout`), and `touch` puts a new head before
 * an old body, which is why each has its own CRC-32. Bytes come from a place that other programs
 * write to: `openFrame` never throws, never allocates by a length that it has not checked, and
 * takes nothing that a checksum does not cover, save `expiredAt`, which a script sets in place.
 */
import { asBuffer } from './as-buffer.ts'
import type { Head, Uncacheable } from './head.ts'

export type Crc32 = (bytes: Uint8Array, seed?: number) => number

/** Offsets in bytes. Integers are unsigned, numbers f64, all big-endian. */
export const frameLayout = {
  magic: 0x6277, // 'bw'
  version: 1,
  versionAt: 2,
  flagsAt: 3,
  /** u32: where the body begins. */
  headLengthAt: 4,
  /** u32: CRC-32 from the stamp to the head's end, seeded with flags and length. */
  headCrcAt: 8,
  /** Set by a script: freshness ended then, whatever `freshUntil` says. 0: it did not. */
  expiredAtAt: 12,
  stampAt: 20,
  stampLength: 22,
  startedAtAt: 42,
  storedAtAt: 50,
  freshUntilAt: 58,
  staleWhileRevalidateAt: 66,
  staleIfErrorAt: 74,
  deltaAt: 82,
  asOfAt: 90,
  /** u16 count, then each tag as u16 length and UTF-8; then u32 length of meta and its bytes. */
  tagsAt: 98,
  noMeta: 0xffffffff,
  minHeadLength: 104,
  /**
   * In the body: u8 codec; u8 of the lower six bits compression (0: none), `apartBit`, `sealedBit`;
   * u32 raw length, which is before compression; u32 CRC-32 of the payload seeded with these three;
   * payload, or what says where it lies (`apart` in Lua reads that, too).
   */
  body: { compressionAt: 1, rawLengthAt: 2, crcAt: 6, payloadAt: 10 },
} as const

const negativeFlag = 1
const uncacheableShift = 1
const uncacheables = [undefined, 'noStore', 'private', 'unstorable'] as const
const knownFlags = 0b111
/** In the byte of the compression: encrypted, after that. */
const sealedBit = 0x80
/** Likewise: the payload lies elsewhere, and this one says where. */
const apartBit = 0x40

export interface Body {
  /** The codec's id. */
  readonly codec: number
  /** Encoded; then compressed, then sealed, as the rest says. */
  readonly payload: Uint8Array
  /** The compression's id; 0: none. */
  readonly compression: number
  readonly isSealed: boolean
  /** The payload is a note (`packNote`) of where it lies. */
  readonly isApart: boolean
  /** Of the encoded value, before it was compressed. */
  readonly rawLength: number
}

export type Unreadable = 'foreign' | 'newer' | 'older' | 'truncated' | 'corrupt'

export type OpenedFrame =
  | ({
      readonly type: 'frame'
      readonly head: Head
      readonly bodyOffset: number
      /** Its payload is a view of the bytes that were opened. */
    } & Body)
  | { readonly type: 'unreadable'; readonly why: Unreadable }

/** The head alone, to be put before the body of a frame that is already stored. */
export function packHead(head: Head, crc32: Crc32): Uint8Array {
  const length = headLength(head)
  const bytes = Buffer.allocUnsafe(length)
  writeHead(bytes, head, length, crc32)
  return bytes
}

export function packFrame(head: Head, body: Body, crc32: Crc32): Uint8Array {
  const { compressionAt, rawLengthAt, crcAt, payloadAt } = frameLayout.body
  const at = headLength(head)
  const { codec, payload, compression, isSealed, isApart, rawLength } = body
  const bytes = Buffer.allocUnsafe(at + payloadAt + payload.length)
  writeHead(bytes, head, at, crc32)
  bytes[at] = codec
  bytes[at + compressionAt] = compression | (isSealed ? sealedBit : 0) | (isApart ? apartBit : 0)
  bytes.writeUInt32BE(rawLength, at + rawLengthAt)
  bytes.set(payload, at + payloadAt)
  bytes.writeUInt32BE(bodyCrc(bytes, at, bytes.subarray(at + payloadAt), crc32), at + crcAt)
  return bytes
}

export function openFrame(bytes: Uint8Array, crc32: Crc32): OpenedFrame {
  const { headLengthAt, headCrcAt, minHeadLength, body: inBody } = frameLayout
  const { length } = bytes
  if (length > 0 && bytes[0] !== frameLayout.magic >> 8) return unreadable.foreign
  if (length > 1 && bytes[1] !== (frameLayout.magic & 0xff)) return unreadable.foreign
  if (length <= frameLayout.versionAt) return unreadable.truncated
  const version = bytes[frameLayout.versionAt]!
  if (version > frameLayout.version) return unreadable.newer
  if (version < frameLayout.version) return unreadable.older
  if (length < minHeadLength) return unreadable.truncated

  const buffer = asBuffer(bytes)
  const at = buffer.readUInt32BE(headLengthAt)
  if (at < minHeadLength) return unreadable.corrupt
  if (length < at + inBody.payloadAt) return unreadable.truncated
  if (headCrc(buffer, at, crc32) !== buffer.readUInt32BE(headCrcAt)) return unreadable.corrupt
  // A flag that we do not know changes the meaning in a way that we do not know.
  if (buffer[frameLayout.flagsAt]! > knownFlags) return unreadable.newer
  const head = readHead(buffer, at)
  if (head === undefined) return unreadable.corrupt

  const payloadLength = length - at - inBody.payloadAt
  const how = buffer[at + inBody.compressionAt]!
  const rawLength = buffer.readUInt32BE(at + inBody.rawLengthAt)
  const isAsEncoded = how === 0
  if (isAsEncoded && payloadLength < rawLength) return unreadable.truncated
  const payload = buffer.subarray(at + inBody.payloadAt)
  if (bodyCrc(buffer, at, payload, crc32) !== buffer.readUInt32BE(at + inBody.crcAt)) {
    return unreadable.corrupt
  }
  if (isAsEncoded && payloadLength !== rawLength) return unreadable.corrupt
  return {
    type: 'frame',
    head,
    codec: buffer[at]!,
    payload,
    compression: how & ~(sealedBit | apartBit),
    isSealed: (how & sealedBit) !== 0,
    isApart: (how & apartBit) !== 0,
    rawLength,
    bodyOffset: at,
  }
}

/** A value that is neither compressed nor sealed. */
export function plainBody(codec: number, payload: Uint8Array): Body {
  const nothing = { compression: 0, isSealed: false, isApart: false }
  return { codec, payload, ...nothing, rawLength: payload.length }
}

/** Where a payload lies, and what it must be. */
export interface Note {
  /** As long as a stamp. */
  readonly id: string
  readonly length: number
  readonly crc: number
}

export function packNote({ id, length, crc }: Note): Uint8Array {
  const note = Buffer.allocUnsafe(noteLength)
  note.write(id, 'latin1')
  note.writeUInt32BE(length, frameLayout.stampLength)
  note.writeUInt32BE(crc, frameLayout.stampLength + 4)
  return note
}

export function readNote(payload: Uint8Array): Note | undefined {
  if (payload.length !== noteLength) return undefined
  const note = asBuffer(payload)
  return {
    id: note.toString('latin1', 0, frameLayout.stampLength),
    length: note.readUInt32BE(frameLayout.stampLength),
    crc: note.readUInt32BE(frameLayout.stampLength + 4),
  }
}

const noteLength = frameLayout.stampLength + 8

const unreadable = {
  foreign: { type: 'unreadable', why: 'foreign' },
  newer: { type: 'unreadable', why: 'newer' },
  older: { type: 'unreadable', why: 'older' },
  truncated: { type: 'unreadable', why: 'truncated' },
  corrupt: { type: 'unreadable', why: 'corrupt' },
} as const

function headLength(head: Head): number {
  let length: number = frameLayout.minHeadLength
  for (const tag of head.tags) length += 2 + Buffer.byteLength(tag)
  return head.meta === undefined ? length : length + head.meta.length
}

function writeHead(bytes: Buffer, head: Head, length: number, crc32: Crc32): void {
  const to = frameLayout
  if (head.stamp.length !== to.stampLength) {
    throw new RangeError(`stamp: expected ${to.stampLength} characters, got ${head.stamp.length}`)
  }
  bytes.writeUInt16BE(to.magic, 0)
  bytes[to.versionAt] = to.version
  bytes[to.flagsAt] =
    (head.negative ? negativeFlag : 0) |
    (uncacheables.indexOf(head.uncacheable) << uncacheableShift)
  bytes.writeUInt32BE(length, to.headLengthAt)
  bytes.writeDoubleBE(0, to.expiredAtAt)
  bytes.write(head.stamp, to.stampAt, 'latin1')
  bytes.writeDoubleBE(head.startedAt, to.startedAtAt)
  bytes.writeDoubleBE(head.storedAt, to.storedAtAt)
  bytes.writeDoubleBE(head.freshUntil, to.freshUntilAt)
  bytes.writeDoubleBE(head.staleWhileRevalidateMs, to.staleWhileRevalidateAt)
  bytes.writeDoubleBE(head.staleIfErrorMs, to.staleIfErrorAt)
  bytes.writeDoubleBE(head.deltaMs, to.deltaAt)
  bytes.writeDoubleBE(head.asOf, to.asOfAt)
  let at = bytes.writeUInt16BE(head.tags.length, to.tagsAt)
  for (const tag of head.tags) {
    const written = bytes.write(tag, at + 2)
    bytes.writeUInt16BE(written, at)
    at += 2 + written
  }
  at = bytes.writeUInt32BE(head.meta === undefined ? to.noMeta : head.meta.length, at)
  if (head.meta !== undefined) bytes.set(head.meta, at)
  bytes.writeUInt32BE(headCrc(bytes, length, crc32), to.headCrcAt)
}

function readHead(bytes: Buffer, length: number): Head | undefined {
  const from = frameLayout
  const tags = readTags(bytes, length)
  if (tags === undefined) return undefined
  const metaLength = bytes.readUInt32BE(tags.end)
  const metaAt = tags.end + 4
  if (metaAt + (metaLength === from.noMeta ? 0 : metaLength) !== length) return undefined

  const flags = bytes[from.flagsAt]!
  const expiredAt = bytes.readDoubleBE(from.expiredAtAt)
  const freshUntil = bytes.readDoubleBE(from.freshUntilAt)
  const head: Head = {
    stamp: bytes.toString('latin1', from.stampAt, from.stampAt + from.stampLength),
    startedAt: bytes.readDoubleBE(from.startedAtAt),
    storedAt: bytes.readDoubleBE(from.storedAtAt),
    freshUntil: expiredAt === 0 ? freshUntil : Math.min(freshUntil, expiredAt),
    staleWhileRevalidateMs: bytes.readDoubleBE(from.staleWhileRevalidateAt),
    staleIfErrorMs: bytes.readDoubleBE(from.staleIfErrorAt),
    deltaMs: bytes.readDoubleBE(from.deltaAt),
    asOf: bytes.readDoubleBE(from.asOfAt),
    negative: (flags & negativeFlag) !== 0,
    uncacheable: uncacheables[flags >> uncacheableShift] as Uncacheable | undefined,
    tags: tags.list,
    // A copy: the head outlives the bytes, which may be a slice of something big.
    meta:
      metaLength === from.noMeta
        ? undefined
        : new Uint8Array(bytes.subarray(metaAt, metaAt + metaLength)),
  }
  // Not under the checksum, so checked for sense: it was stored before, by clocks that differ a little.
  if (expiredAt !== 0 && !(expiredAt > head.storedAt - 60_000)) return undefined
  return isSane(head, expiredAt) ? head : undefined
}

/** NaN in an instant would make every comparison false: an entry that never expires. */
function isSane(head: Head, expiredAt: number): boolean {
  return (
    head.staleWhileRevalidateMs >= 0 &&
    head.staleIfErrorMs >= 0 &&
    head.deltaMs >= 0 &&
    expiredAt >= 0 &&
    Number.isFinite(
      head.staleWhileRevalidateMs + head.staleIfErrorMs + head.deltaMs + expiredAt + head.asOf,
    ) &&
    Number.isFinite(head.startedAt + head.storedAt + head.freshUntil)
  )
}

const noTags: { readonly list: readonly string[]; readonly end: number } = {
  list: Object.freeze([]),
  end: frameLayout.tagsAt + 2,
}

function readTags(bytes: Buffer, headEnd: number): typeof noTags | undefined {
  const count = bytes.readUInt16BE(frameLayout.tagsAt)
  if (count === 0) return noTags
  const limit = headEnd - 4 // where at the latest the length of meta begins
  const list: string[] = []
  let at = noTags.end
  for (let n = 0; n < count; n++) {
    if (at + 2 > limit) return undefined
    const end = at + 2 + bytes.readUInt16BE(at)
    if (end > limit) return undefined
    list.push(bytes.toString('utf8', at + 2, end))
    at = end
  }
  return { list, end: at }
}

/**
 * What stands before a checksum goes into it as its seed: one call over one piece of memory, on a
 * path where each costs as much as the check of a kilobyte. For the same bytes, another seed gives
 * another checksum.
 */
function headCrc(bytes: Buffer, length: number, crc32: Crc32): number {
  const seed = ((bytes[frameLayout.flagsAt]! << 24) ^ length) >>> 0
  return crc32(bytes.subarray(frameLayout.stampAt, length), seed)
}

function bodyCrc(bytes: Buffer, at: number, payload: Uint8Array, crc32: Crc32): number {
  const { compressionAt, rawLengthAt } = frameLayout.body
  const codecs = (bytes[at]! << 24) ^ (bytes[at + compressionAt]! << 16)
  return crc32(payload, (codecs ^ bytes.readUInt32BE(at + rawLengthAt)) >>> 0)
}
