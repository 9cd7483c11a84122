/** What this process knows of an epoch: how to hash for it, which shards are lost, how full they were. */
import { shardOf } from '../core/bloom.ts'
import { sipHashText, sipKey, type Digest, type SipKey } from '../core/siphash.ts'
import type { Epoch } from './epoch.ts'

export class EpochView {
  readonly epoch: Epoch
  readonly #key: SipKey
  readonly #scratch: Digest = new Uint32Array(4)
  /** The highest count of additions that was seen in each shard; −1: not seen yet. */
  readonly #counts: Float64Array
  readonly #lost: Uint8Array
  #someLost = false

  constructor(epoch: Epoch) {
    this.epoch = epoch
    this.#key = sipKey(Buffer.from(epoch.key, 'hex'))
    this.#counts = new Float64Array(epoch.shards).fill(-1)
    this.#lost = new Uint8Array(epoch.shards)
  }

  get isAnyLost(): boolean {
    return this.#someLost
  }

  digest(text: string): Digest {
    return sipHashText(text, this.#key, new Uint32Array(4))
  }

  /** Holds until the next call. */
  passingDigest(text: string): Digest {
    return sipHashText(text, this.#key, this.#scratch)
  }

  shardOf(digest: Digest): number {
    return shardOf(digest, this.epoch.shards)
  }

  isLost(shard: number): boolean {
    return this.#lost[shard] === 1
  }

  lose(shard: number): void {
    this.#lost[shard] = 1
    this.#someLost = true
  }

  /** To be compared with an answer to what is asked from now on. */
  countOf(shard: number): number {
    return this.#counts[shard]!
  }

  saw(shard: number, count: number): void {
    if (count > this.#counts[shard]!) this.#counts[shard] = count
  }

  /** All that were added; of shards that were not seen, as many as of the others. */
  get added(): number {
    const seen = this.#counts.filter((count) => count >= 0)
    if (seen.length === 0) return 0
    const sum = seen.reduce((total, count) => total + count, 0)
    return Math.round((sum / seen.length) * this.epoch.shards)
  }
}
