/**
 * Shards as filters of the server's own Bloom module (RedisBloom, Redis 8, valkey-bloom). What is
 * added are digests; one that only the builder adds stands for the tag, and is asked in the same
 * BF.MEXISTS. Filters grow (`EXPANSION 1`): one that does not would refuse additions, and so hide
 * what exists.
 */
import type { Digest } from '../core/siphash.ts'
import type { RedisCommands } from '../redis/commands.ts'
import { digestBytes } from './digest-bytes.ts'
import { shardKey } from './epoch.ts'
import type { EpochView } from './epoch-view.ts'
import { lost, type Asked, type Count, type Shelf } from './shelf.ts'

export class BloomShelf implements Shelf {
  readonly #commands: RedisCommands
  readonly #name: string

  constructor(commands: RedisCommands, name: string) {
    this.#commands = commands
    this.#name = name
  }

  async ask(view: EpochView, shard: number, digest: Digest): Promise<Asked> {
    const [isThere, has] = await this.#exist(view, shard, [digestBytes([digest])])
    return isThere === true ? { has: has === true, count: undefined } : 'lost'
  }

  async put(view: EpochView, shard: number, digests: readonly Digest[]): Promise<Count> {
    return this.#insert(
      view,
      shard,
      digests.map((digest) => digestBytes([digest])),
    )
  }

  async count(view: EpochView, shard: number): Promise<Count> {
    const key = this.#key(view, shard)
    // The first modules that had filters had no BF.CARD.
    const [[isThere], count] = await Promise.all([
      this.#exist(view, shard, []),
      this.#commands.keyed('BF.CARD', key, []).catch(() => undefined),
    ])
    if (isThere !== true) return lost
    return count === undefined ? undefined : Number(count) - 1
  }

  async create(view: EpochView, shard: number, lifeMs: number): Promise<void> {
    const { capacity, errorRate, shards } = view.epoch
    const key = this.#key(view, shard)
    // Ids fall to shards by chance: about as many more as come in one of tens of thousands.
    const each = Math.ceil(capacity / shards)
    const most = String(each + Math.ceil(4 * Math.sqrt(each)) + 1)
    await this.#commands.keyed('BF.RESERVE', key, [String(errorRate), most, 'EXPANSION', '1'])
    await this.#commands.keyed('PEXPIRE', key, [String(lifeMs)])
    await this.#insert(view, shard, [tagItem(view)])
  }

  /** Without `NOCREATE` it would make a filter that is not there, empty. */
  async #insert(
    view: EpochView,
    shard: number,
    items: readonly (Buffer | string)[],
  ): Promise<Count> {
    const key = this.#key(view, shard)
    try {
      const reply = await this.#commands.keyed('BF.INSERT', key, ['NOCREATE', 'ITEMS', ...items])
      const refused = (reply as readonly unknown[]).find((one) => one instanceof Error)
      if (refused !== undefined) throw refused
      return undefined
    } catch (error) {
      if (/\bnot found\b|^WRONGTYPE/i.test((error as Error).message)) return lost
      throw error
    }
  }

  async #exist(view: EpochView, shard: number, items: readonly Buffer[]): Promise<boolean[]> {
    const key = this.#key(view, shard)
    const reply = await this.#commands.keyed('BF.MEXISTS', key, [tagItem(view), ...items])
    return (reply as readonly unknown[]).map((one) => Number(one) === 1)
  }

  #key(view: EpochView, shard: number): string {
    return shardKey(this.#name, view.epoch.id, shard)
  }
}

/** No digest: those have 16 bytes. */
function tagItem({ epoch }: EpochView): string {
  return `tag:${epoch.tag}`
}

/** Whether the server has such filters. */
export async function hasBloom(commands: RedisCommands, name: string): Promise<boolean> {
  try {
    await commands.keyed('BF.MEXISTS', shardKey(name, 'probe', 0), ['probe'])
    return true
  } catch (error) {
    // Of no use either way: not there, or not for us.
    if (/unknown command|^NOPERM/i.test((error as Error).message)) return false
    throw error
  }
}
