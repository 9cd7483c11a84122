/**
 * Zstandard (RFC 8878), by Node where it has it. Older ones read it where the package fzstd is
 * installed, a decoder in JavaScript: while a fleet moves to another Node.js, each half then reads
 * what the other one writes.
 */
import { createRequire } from 'node:module'
import * as zlib from 'node:zlib'
import type * as fzstd from 'fzstd'
import type { Decompression } from '../ports.ts'
import { ids } from './ids.ts'
import { ofZlib, type Functions } from './zlib.ts'

const functions = zlib as unknown as Partial<
  Record<'zstdCompress' | 'zstdCompressSync' | 'zstdDecompress' | 'zstdDecompressSync', unknown>
>

/** `undefined`: this Node.js has none. */
export const zstd = native()

/** For a Node.js that has none. Throws Node's own error where the package is not there. */
export function zstdInJavaScript(): Decompression {
  const { decompress } = createRequire(import.meta.url)('fzstd') as typeof fzstd
  const inflate = (bytes: Uint8Array, length: number): Uint8Array => {
    // It takes a result of another length for right, and fills up with zeros.
    if (contentSize(bytes) !== length) throw new Error(`expected a zstd frame of ${length} bytes`)
    return decompress(bytes, new Uint8Array(length))
  }
  return {
    id: ids.zstd,
    name: 'zstd',
    decompress: inflate,
    decompressAside: async (bytes, length) => inflate(bytes, length),
  }
}

function native(): ReturnType<typeof ofZlib> | undefined {
  const { zstdCompress, zstdCompressSync, zstdDecompress, zstdDecompressSync } = functions
  if (typeof zstdCompressSync !== 'function') return undefined
  const { ZSTD_c_compressionLevel } = zlib.constants as unknown as Record<string, number>
  const options = { params: { [ZSTD_c_compressionLevel!]: 1 } }
  return ofZlib('zstd', () => options, {
    compress: zstdCompress,
    compressSync: zstdCompressSync,
    decompress: zstdDecompress,
    decompressSync: zstdDecompressSync,
  } as Functions)
}

/** RFC 8878, 3.1.1.1: how much comes out; `undefined` where the header does not say. */
function contentSize(bytes: Uint8Array): number | undefined {
  const header = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.length, 18))
  if (header.length < 6 || header.readUInt32LE(0) !== 0xfd2fb528) return undefined
  const descriptor = header[4]!
  const isSingleSegment = (descriptor & 0x20) !== 0
  const sizeFlag = descriptor >> 6
  const size = sizeFlag === 0 ? (isSingleSegment ? 1 : 0) : 1 << sizeFlag
  const at = 5 + (isSingleSegment ? 0 : 1) + [0, 1, 2, 4][descriptor & 3]!
  if (size === 0 || at + size > header.length) return undefined
  if (size === 8) return Number(header.readBigUInt64LE(at))
  return header.readUIntLE(at, size) + (size === 2 ? 256 : 0)
}
