/** The bits of a filter in this process: what the in-process guard is, and the copy of a shared one. */
import { positionsOf, shardOf, type Geometry } from './bloom.ts'
import type { Digest } from './siphash.ts'

export class BitShards {
  readonly geometry: Geometry
  readonly #shards: Uint8Array[]
  readonly #positions: Uint32Array

  constructor(geometry: Geometry) {
    this.geometry = geometry
    this.#positions = new Uint32Array(geometry.hashes)
    this.#shards = Array.from(
      { length: geometry.shards },
      () => new Uint8Array(geometry.shardBits / 8),
    )
  }

  get bytes(): number {
    return (this.geometry.shards * this.geometry.shardBits) / 8
  }

  /** False: it was never added. */
  has(digest: Digest): boolean {
    const { shards, hashes, shardBits } = this.geometry
    const bytes = this.#shards[shardOf(digest, shards)]!
    // Position by position: the first bit that is not set ends it.
    let x = digest[0]! % shardBits
    let y = digest[1]! % shardBits
    for (let i = 1; ; i++) {
      if ((bytes[x >>> 3]! & (0x80 >>> (x & 7))) === 0) return false
      if (i === hashes) return true
      x += y
      if (x >= shardBits) x -= shardBits
      y += i
      if (y >= shardBits) y -= shardBits
    }
  }

  /** Whether that has changed anything. */
  add(digest: Digest): boolean {
    const bytes = this.#shards[shardOf(digest, this.geometry.shards)]!
    positionsOf(digest, this.geometry, this.#positions)
    let changed = false
    for (const position of this.#positions) {
      const bit = 0x80 >>> (position & 7)
      const before = bytes[position >>> 3]!
      if ((before & bit) !== 0) continue
      bytes[position >>> 3] = before | bit
      changed = true
    }
    return changed
  }

  shard(n: number): Uint8Array {
    return this.#shards[n]!
  }

  /** What another has, in addition. */
  merge(n: number, bits: Uint8Array): void {
    const bytes = this.#shards[n]!
    for (let at = 0; at < bytes.length; at++) bytes[at]! |= bits[at]!
  }
}
