/**
 * From a frame's bytes to its value, before anybody judges whether it may be used. Bytes come from a
 * place that others write to: sizes are held against `maxBytes` and a ratio before anything is
 * allocated for them, and whatever cannot be read is a miss with a reason, never an exception.
 * Small frames in the same turn; big ones are decompressed beside the event loop and decoded in pieces.
 */
import { after } from '../core/after.ts'
import { deepFreeze } from '../core/freeze.ts'
import { openFrame, type Body } from '../core/frame.ts'
import type { Head } from '../core/head.ts'
import type { CodecPort, Decompression } from '../ports.ts'
import { fetched } from './apart.ts'
import type { Engine, Source } from './engine.ts'
import type { Entry } from './entry.ts'
import { misfitOf } from './inspect.ts'
import type { EntryRules } from './options.ts'
import { asideBytes, mostRatio, sealContext } from './pack.ts'
import { copyLater, crc, decoded, isBig } from './values.ts'

/** `value` and `meta`: decoded. `payload`: encoded, for those who decode a copy each. */
export interface Unpacked {
  readonly type: 'unpacked'
  readonly head: Head
  readonly codec: CodecPort
  readonly payload: Uint8Array
  readonly value: unknown
  readonly meta: unknown
}

export interface Unread {
  readonly type: 'unread'
  readonly why: string
  /** What does not fit, where that is known. */
  readonly path?: string
}

const noPayload = new Uint8Array(0)
const mark = { type: 'unpacked', payload: noPayload, value: undefined, meta: undefined } as const
/** Beside a value: what a seal adds to it. */
const sealBytes = 1_024

/** `known`: what this process has of it, which need not be decoded again. */
export function unpack(
  engine: Engine,
  source: Source,
  frame: { readonly key: string; readonly bytes: Uint8Array; readonly known: Entry | undefined },
): Unpacked | Unread | Promise<Unpacked | Unread> {
  const { rules } = source
  const { key, known } = frame
  source.counters.bytesRead += frame.bytes.length
  const opened = openFrame(frame.bytes, crc)
  if (opened.type === 'unreadable') return unread(opened.why)
  const { head, rawLength } = opened
  const { codec: usual } = rules
  if (head.uncacheable !== undefined) {
    return { ...mark, head, codec: usual }
  }
  const codec = opened.codec === usual.id ? usual : readerOf(engine, usual, opened.codec)
  if (codec === undefined) return unread('codec')
  if (known !== undefined && known.stamp === head.stamp && known.values === rules.values) {
    const { value, meta } = known
    return {
      type: 'unpacked',
      head,
      codec: known.codec ?? codec,
      payload: known.payload ?? noPayload,
      value,
      meta,
    }
  }
  if (opened.isSealed !== (codec.seal !== undefined))
    return unread(opened.isSealed ? 'sealed' : 'unsealed')
  if (rawLength > rules.maxBytes || opened.payload.length > rules.maxBytes + sealBytes)
    return unread('too large')

  try {
    const meta = head.meta === undefined ? undefined : metaOf(engine, codec, key, head.meta)
    const { isApart, compression } = opened
    if (isApart || isBig(rawLength) || (compression !== 0 && rawLength > asideBytes)) {
      return unpackBig(engine, source, key, { head, codec, body: opened, meta })
    }
    const body = unsealed(engine, codec, key, opened)
    const reader = decompression(body, rules)
    if (reader === undefined) return unread('compression')
    const payload = reader.decompress(body.payload, rawLength)
    const value = decoded(payload, rules, codec)
    return checked(engine, source, key, { type: 'unpacked', head, codec, payload, value, meta })
  } catch {
    return unread('undecodable')
  }
}

/** Ours read each other's, so that a definition may change its codec with entries in the store. */
function readerOf({ codecs }: Engine, usual: CodecPort, id: number): CodecPort | undefined {
  if (usual.seal !== undefined || !codecs.some((codec) => codec.id === usual.id)) return undefined
  return codecs.find((codec) => codec.id === id)
}

async function unpackBig(
  engine: Engine,
  source: Source,
  key: string,
  opened: {
    readonly head: Head
    readonly codec: CodecPort
    readonly body: Body
    readonly meta: unknown
  },
): Promise<Unpacked | Unread> {
  const { rules } = source
  const { head, codec, meta } = opened
  let { body } = opened
  if (body.isApart) {
    try {
      body = await fetched(engine, key, body, rules.maxBytes + sealBytes)
      source.counters.bytesRead += body.payload.length
    } catch {
      return unread('body')
    }
  }
  try {
    body = unsealed(engine, codec, key, body)
    const reader = decompression(body, rules)
    if (reader === undefined) return unread('compression')
    const payload = await reader.decompressAside(body.payload, body.rawLength)
    // What the client has just put together, and its checksum, were enough for one turn.
    await engine.turn()
    const value = await copyLater(engine, payload, { rules, codec, name: source.name, key })
    return await checked(engine, source, key, {
      type: 'unpacked',
      head,
      codec,
      payload,
      value,
      meta,
    })
  } catch {
    return unread('undecodable')
  }
}

/** `undefined`: by something that this process has not. */
function decompression(
  { compression, payload, rawLength }: Body,
  { compressions }: EntryRules,
): Pick<Decompression, 'decompress' | 'decompressAside'> | undefined {
  if (compression === 0) return uncompressed
  if (payload.length * mostRatio < rawLength) {
    throw new Error('more than a value of ours can shrink')
  }
  return compressions.numbered(compression)
}

const uncompressed: Pick<Decompression, 'decompress' | 'decompressAside'> = {
  decompress: (bytes) => bytes,
  decompressAside: async (bytes) => bytes,
}

function unsealed(engine: Engine, { seal }: CodecPort, key: string, body: Body): Body {
  if (seal === undefined) return body
  const payload = seal.open(body.payload, sealContext(engine, key))
  if (body.compression === 0 && payload.length !== body.rawLength) throw new Error('another length')
  return { ...body, payload }
}

/** As values are: by its codec, sealed where that asks for it. */
export function metaBytes(
  engine: Engine,
  { codec }: EntryRules,
  key: string,
  meta: unknown,
): Uint8Array {
  const bytes = (codec.meta ?? codec).encode(meta)
  return codec.seal === undefined ? bytes : codec.seal.close(bytes, metaContext(engine, key))
}

export function metaOf(engine: Engine, codec: CodecPort, key: string, bytes: Uint8Array): unknown {
  const open = codec.seal === undefined ? bytes : codec.seal.open(bytes, metaContext(engine, key))
  return deepFreeze((codec.meta ?? codec).decode(open))
}

/** No value's: a namespace has no blank, while a key may contain anything. */
function metaContext({ namespace }: Engine, key: string): string {
  return `${namespace} meta\n${key}`
}

/** Held against the definition's schema. What does not exist has no shape. */
function checked(
  engine: Engine,
  source: Source,
  key: string,
  unpacked: Unpacked,
): Unpacked | Unread | Promise<Unpacked | Unread> {
  if (unpacked.head.negative) return unpacked
  const owner = { name: source.name, key, rules: source.rules }
  return after(misfitOf(engine, owner, unpacked.value, owner.rules.waitTimeoutMs), (found) =>
    found === undefined ? unpacked : unread('schema', found.path),
  )
}

/** Nothing is known of its bytes: the store does not answer any more. */
export function isOutOfReach({ store }: Engine, key: string, { why }: Unread): boolean {
  return why === 'body' && store?.isDown(key) === true
}

function unread(why: string, path?: string): Unread {
  return path === undefined ? { type: 'unread', why } : { type: 'unread', why, path }
}
