/**
 * What Node itself has: gzip, Brotli and, from 22.15 on, zstd. At their quick levels: a cache's
 * values are written about as often as they are worth being small. How much may come out is said
 * before anything does, so that no input takes more memory than the value that it claims to be.
 */
import * as zlib from 'node:zlib'
import type { Compression } from '../ports.ts'
import { ids } from './ids.ts'

type Options = zlib.ZlibOptions & zlib.BrotliOptions
type Run = (bytes: Uint8Array, options: Options) => Buffer
type RunAside = (
  bytes: Uint8Array,
  options: Options,
  done: (error: Error | null, result: Buffer) => void,
) => void

/** The functions of one format in `node:zlib`; not in the types that we are built with for zstd. */
export interface Functions {
  readonly compressSync: Run
  readonly compress: RunAside
  readonly decompressSync: Run
  readonly decompress: RunAside
}

const { BROTLI_PARAM_QUALITY, BROTLI_PARAM_SIZE_HINT } = zlib.constants

export const gzip = ofZlib('gzip', () => ({ level: 1 }), {
  compressSync: zlib.gzipSync,
  compress: zlib.gzip,
  decompressSync: zlib.gunzipSync,
  decompress: zlib.gunzip,
})

export const brotli = ofZlib(
  'brotli',
  (length) => ({ params: { [BROTLI_PARAM_QUALITY]: 4, [BROTLI_PARAM_SIZE_HINT]: length } }),
  {
    compressSync: zlib.brotliCompressSync,
    compress: zlib.brotliCompress,
    decompressSync: zlib.brotliDecompressSync,
    decompress: zlib.brotliDecompress,
  },
)

export function ofZlib(
  name: keyof typeof ids,
  levelFor: (length: number) => Options,
  functions: Functions,
): Compression {
  const { compress, compressSync, decompress, decompressSync } = functions
  const squeeze = (length: number): Options => ({
    ...levelFor(length),
    chunkSize: chunkFor(length / 4),
  })
  // In one piece: put together, it would be touched twice. And one byte more than may come out, since
  // a piece that is filled to the brim would be followed by another.
  const bounded = (length: number): Options => ({
    maxOutputLength: length,
    chunkSize: Math.max(64, length + 1),
  })
  return {
    id: ids[name],
    name,
    compress: (bytes) => compressSync(bytes, squeeze(bytes.length)),
    decompress: (bytes, length) => exactly(length, decompressSync(bytes, bounded(length))),
    compressAside: (bytes) => aside(compress, bytes, squeeze(bytes.length)),
    decompressAside: async (bytes, length) =>
      exactly(length, await aside(decompress, bytes, bounded(length))),
  }
}

function aside(run: RunAside, bytes: Uint8Array, options: Options): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    run(bytes, options, (error, result) => (error === null ? resolve(result) : reject(error)))
  })
}

/** Pieces in which the result is made: each costs a call, and the last is as long as the first. */
function chunkFor(length: number): number {
  return Math.min(4 * 1024 * 1024, Math.max(1024, Math.ceil(length)))
}

export function exactly(length: number, bytes: Uint8Array): Uint8Array {
  if (bytes.length === length) return bytes
  throw new Error(`expected ${length} bytes when decompressed, got ${bytes.length}`)
}
