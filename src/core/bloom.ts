/**
 * The arithmetic of Bloom filters (Bloom 1970): how many bits, how many hashes, what error is to be
 * expected, and which bits a digest stands for. No storage and no hashing here.
 */
import type { Digest } from './siphash.ts'

/** A filter as equal shards; a digest belongs to one of them, with all of its bits. */
export interface Geometry {
  readonly shards: number
  /** Of each shard; a multiple of 8, below 2³². */
  readonly shardBits: number
  /** Bits that an id stands for. */
  readonly hashes: number
}

export interface Wanted {
  /** Ids. */
  readonly capacity: number
  /** Share of the ids that are not in it and are taken for such that may be. */
  readonly errorRate: number
}

/**
 * The least bits, as many whole hashes as that takes. With k hashes p = (1 − e^(−kn/m))^k, thus
 * m = −kn / ln(1 − p^(1/k)); for a k that need not be whole the least is −n·ln p / (ln 2)².
 */
export function bloomSize({ capacity, errorRate }: Wanted): { bits: number; hashes: number } {
  const ideal = -Math.log2(errorRate)
  const sizes = [Math.max(1, Math.floor(ideal)), Math.max(1, Math.ceil(ideal))].map((hashes) => ({
    hashes,
    bits: Math.ceil((-hashes * capacity) / Math.log1p(-(errorRate ** (1 / hashes)))),
  }))
  const [fewer, more] = sizes as [(typeof sizes)[0], (typeof sizes)[0]]
  return fewer.bits < more.bits ? fewer : more
}

/** What is to be expected of it with so many ids in it. */
export function expectedErrorRate({ shards, shardBits, hashes }: Geometry, added: number): number {
  return (-Math.expm1((-hashes * added) / (shards * shardBits))) ** hashes
}

/** Which shard: by a word of the digest that its positions do not use. */
export function shardOf(digest: Digest, shards: number): number {
  return digest[3]! % shards
}

/**
 * Its bits within the shard, by enhanced double hashing (Dillinger & Manolios 2004). Two hashes are
 * enough for as many positions as one likes (Kirsch & Mitzenmacher 2006); the growing step keeps
 * them apart where the second is 0, or divides the length.
 */
export function positionsOf(
  digest: Digest,
  { shardBits, hashes }: Geometry,
  out: Uint32Array,
): void {
  let x = digest[0]! % shardBits
  let y = digest[1]! % shardBits
  out[0] = x
  for (let i = 1; i < hashes; i++) {
    x += y
    if (x >= shardBits) x -= shardBits
    y += i
    if (y >= shardBits) y -= shardBits
    out[i] = x
  }
}
