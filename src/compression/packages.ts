/**
 * LZ4 and Snappy, by packages that the user installs: quicker than what Node has, and larger in the
 * store. Both trust the length that the bytes begin with and allocate it, so it is read here first.
 */
import { createRequire } from 'node:module'
import type { Compression } from '../ports.ts'
import { ids } from './ids.ts'
import { exactly } from './zlib.ts'

interface Package {
  compressSync(bytes: Uint8Array): Buffer
  compress(bytes: Uint8Array): Promise<Buffer>
  uncompressSync(bytes: Uint8Array): Buffer
  uncompress(bytes: Uint8Array): Promise<Buffer>
}

const require = createRequire(import.meta.url)

export const packageOf = { lz4: 'lz4-napi', snappy: 'snappy' } as const

/** Throws Node's own error where the package is not there. */
export function ofPackage(name: keyof typeof packageOf): Compression {
  const { compress, compressSync, uncompress, uncompressSync } = require(packageOf[name]) as Package
  const claimed = name === 'lz4' ? fixedLength : varintLength
  const checked = (bytes: Uint8Array, length: number): Uint8Array => {
    if (claimed(bytes) === length) return bytes
    throw new Error(`expected ${name} of ${length} bytes`)
  }
  return {
    id: ids[name],
    name,
    compress: (bytes) => compressSync(bytes),
    decompress: (bytes, length) => exactly(length, uncompressSync(checked(bytes, length))),
    compressAside: (bytes) => compress(bytes),
    decompressAside: async (bytes, length) =>
      exactly(length, await uncompress(checked(bytes, length))),
  }
}

function fixedLength(bytes: Uint8Array): number | undefined {
  if (bytes.length < 4) return undefined
  return Buffer.from(bytes.buffer, bytes.byteOffset, 4).readUInt32LE(0)
}

/** Seven bits a byte, the lowest first; at most 32 bits. */
function varintLength(bytes: Uint8Array): number | undefined {
  let length = 0
  for (let n = 0; n < 5; n++) {
    const byte = bytes[n]
    if (byte === undefined) return undefined
    length += (byte & 0x7f) * 2 ** (7 * n)
    if (byte < 0x80) return length
  }
  return undefined
}
