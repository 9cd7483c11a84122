/**
 * From an encoded value to the body of a frame: compressed where that pays, then sealed where its
 * codec asks for it. Small values in the same turn, since handing them over would cost more than the
 * work; big ones beside the event loop.
 */
import { plainBody, type Body } from '../core/frame.ts'
import type { Compression, Seal } from '../ports.ts'
import type { Engine } from './engine.ts'
import type { EntryRules } from './options.ts'

/** From here on compressed and decompressed beside the event loop. */
export const asideBytes = 64 * 1024

/** More bytes out than this for each that goes in: no value of ours, and a bomb where it is someone else's. */
export const mostRatio = 1_024

/** Of its size without compression, at most. */
const worthwhile = 0.85

/** `key`: whose it is, which is what it is sealed as. */
export function packed(
  engine: Engine,
  rules: EntryRules,
  key: string,
  payload: Uint8Array,
): Body | Promise<Body> {
  const { codec, compress } = rules
  const seal = (body: Body): Body =>
    codec.seal === undefined ? body : sealed(codec.seal, sealContext(engine, key), body)
  const plain = plainBody(codec.id, payload)
  if (payload.length <= compress.over) return seal(plain)
  const { by } = compress
  if (payload.length <= asideBytes) {
    return seal(
      smaller(
        plain,
        by,
        attempt(() => by.compress(payload)),
      ) ?? plain,
    )
  }
  if (!looksCompressible(payload, by)) return seal(plain)
  return by.compressAside(payload).then(
    (small) => seal(smaller(plain, by, small) ?? plain),
    () => seal(plain),
  )
}

/** What it is stored as: elsewhere, nobody can open it. */
export function sealContext({ namespace }: Engine, key: string): string {
  return `${namespace}\n${key}`
}

function smaller(plain: Body, by: Compression, small: Uint8Array | undefined): Body | undefined {
  const { rawLength } = plain
  if (small === undefined || small.length > rawLength * worthwhile) return undefined
  if (small.length * mostRatio < rawLength) return undefined
  return { ...plain, compression: by.id, payload: small }
}

function sealed(seal: Seal, context: string, body: Body): Body {
  return { ...body, isSealed: true, payload: seal.close(body.payload, context) }
}

const sampleBytes = 4 * 1024

/** By three pieces of it: pictures and what is compressed already would keep a thread busy for nothing. */
function looksCompressible(payload: Uint8Array, by: Compression): boolean {
  const last = payload.length - sampleBytes
  const samples = [0, Math.floor(last / 2), last].map((at) =>
    payload.subarray(at, at + sampleBytes),
  )
  const small = attempt(() => by.compress(Buffer.concat(samples)))
  return small !== undefined && small.length < sampleBytes * samples.length * 0.95
}

/** A compression that fails costs its gain, and nothing else. */
function attempt(run: () => Uint8Array): Uint8Array | undefined {
  try {
    return run()
  } catch {
    return undefined
  }
}
