/**
 * The value in a frame, as far as it can be had without its definition: by our own codecs and those
 * that were given. One that cannot be had is told with its reason, never thrown.
 */
import { crc32 } from 'node:zlib'
import { jsonCodec } from '../codecs/json.ts'
import { messagePack } from '../codecs/msgpack.ts'
import { compressions } from '../compression/compressions.ts'
import { ids as compressionIds } from '../compression/ids.ts'
import { readNote, type Note, type OpenedFrame } from '../core/frame.ts'
import { messageOf } from '../core/errors.ts'
import type { Bodies, CodecPort } from '../ports.ts'
import type { Looking } from './entry.ts'
import type { ValueSeen } from './seen.ts'

type Opened = Extract<OpenedFrame, { type: 'frame' }>

const own: readonly CodecPort[] = [messagePack, jsonCodec]
const ownNames: Readonly<Record<number, string>> = { 3: 'protobuf', 4: 'v8' }
const pieceBytes = 256 * 1024
/** What nobody should have to take in at once. */
const mostBytes = 1024 * 1024 * 1024

export interface OpenedValue {
  readonly seen: ValueSeen
  readonly compression: string | undefined
  readonly apartBytes: number
}

export async function openValue(
  { session, codecs }: Looking,
  key: string,
  opened: Opened,
): Promise<OpenedValue> {
  const note = opened.isApart ? readNote(opened.payload) : undefined
  const compression = compressionName(opened.compression)
  const seen = await decode().catch((error: unknown) => none(messageOf(error)))
  return { seen, compression, apartBytes: note?.length ?? 0 }

  async function decode(): Promise<ValueSeen> {
    if (opened.head.uncacheable !== undefined) return none('it is a mark, and has none')
    if (opened.isSealed) return none('it is encrypted')
    const codec = codecOf(codecs, opened.codec)
    if (codec === undefined)
      return none(`its codec (${codecName(codecs, opened.codec)}) is not known here`)
    const { rawLength } = opened
    const stored = opened.isApart ? await fetch(session.bodies, key, note) : opened.payload
    if (Math.max(rawLength, stored.length) > mostBytes) return none('it is over 1 GiB')
    const payload = await decompressed(opened, stored)
    return { type: 'value', value: codec.decode(payload) }
  }
}

/** `undefined`: none, or one that cannot be read here. */
export function decodeMeta(
  codecs: readonly CodecPort[],
  { head, codec: id, isSealed }: Opened,
): unknown {
  const codec = codecOf(codecs, id)
  if (head.meta === undefined || codec === undefined || isSealed) return undefined
  try {
    return (codec.meta ?? codec).decode(head.meta)
  } catch {
    return undefined
  }
}

export function codecName(codecs: readonly CodecPort[], id: number): string {
  return codecOf(codecs, id)?.name ?? ownNames[id] ?? `codec ${id}`
}

function codecOf(codecs: readonly CodecPort[], id: number): CodecPort | undefined {
  return [...codecs, ...own].find((codec) => codec.id === id && codec.seal === undefined)
}

function compressionName(id: number): string | undefined {
  if (id === 0) return undefined
  return (
    Object.entries(compressionIds).find(([, known]) => known === id)?.[0] ?? `compression ${id}`
  )
}

async function decompressed(
  { compression, rawLength }: Opened,
  bytes: Uint8Array,
): Promise<Uint8Array> {
  if (compression === 0) return bytes
  const reader = compressions.numbered(compression)
  if (reader === undefined) {
    throw new Error(`its compression (${compressionName(compression)}) cannot be read here`)
  }
  return reader.decompressAside(bytes, rawLength)
}

async function fetch(
  bodies: Bodies | undefined,
  key: string,
  note: Note | undefined,
): Promise<Uint8Array> {
  if (bodies === undefined || note === undefined || note.length > mostBytes) {
    throw new Error('its body is none of ours')
  }
  const { id } = note
  const pieces: Uint8Array[] = []
  for (let at = 0; at < note.length; at += pieceBytes) {
    pieces.push(await bodies.get(key, { id, at, length: Math.min(pieceBytes, note.length - at) }))
  }
  const body = Buffer.concat(pieces)
  if (crc32(body) !== note.crc) throw new Error('its body has gone, or is another')
  return body
}

function none(why: string): ValueSeen {
  return { type: 'none', why }
}
