/** Digests as bytes, the same on every host. */
import type { Digest } from '../core/siphash.ts'

const size = 16

export function digestBytes(digests: readonly Digest[]): Buffer {
  const bytes = Buffer.allocUnsafe(digests.length * size)
  let at = 0
  for (const digest of digests) for (const word of digest) at = bytes.writeUInt32LE(word, at)
  return bytes
}

export function readDigests(bytes: Buffer): Digest[] {
  return Array.from({ length: Math.floor(bytes.length / size) }, (_, n) =>
    Uint32Array.from({ length: 4 }, (_word, i) => bytes.readUInt32LE(n * size + i * 4)),
  )
}
