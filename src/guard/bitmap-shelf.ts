/**
 * Shards as plain bitmaps. What an ask reads in one BITFIELD_RO says for itself whether the shard is
 * whole: an evicted or cut-off key reads as zeros, where its tag should be.
 */
import { positionsOf } from '../core/bloom.ts'
import type { Digest } from '../core/siphash.ts'
import type { Bytes, RedisCommands } from '../redis/commands.ts'
import { runScript } from '../redis/run-script.ts'
import { scripts } from '../redis/scripts.generated.ts'
import { headBits, shardBytes, shardKey } from './epoch.ts'
import type { EpochView } from './epoch-view.ts'
import { addedMessage } from './guard-message.ts'
import { lost, type Asked, type Shelf } from './shelf.ts'

export class BitmapShelf implements Shelf {
  readonly #commands: RedisCommands
  readonly #name: string
  readonly #channel: string
  /** Redis before 6 has none that only reads. */
  #read: 'BITFIELD_RO' | 'BITFIELD' = 'BITFIELD_RO'

  constructor(commands: RedisCommands, name: string, channel: string) {
    this.#commands = commands
    this.#name = name
    this.#channel = channel
  }

  async ask(view: EpochView, shard: number, digest: Digest): Promise<Asked> {
    const positions = positionsFor(view, digest)
    const words: string[] = []
    for (const position of positions) words.push('GET', 'u1', String(headBits + position))
    const [count, ...bits] = await this.#get(view, shard, words)
    return count === lost ? 'lost' : { has: !bits.includes(0), count: count! }
  }

  async put(view: EpochView, shard: number, digests: readonly Digest[]): Promise<number> {
    const { epoch } = view
    const positions = Buffer.allocUnsafe(digests.length * epoch.hashes * 4)
    let at = 0
    for (const digest of digests) {
      for (const position of positionsFor(view, digest)) {
        at = positions.writeUInt32BE(headBits + position, at)
      }
    }
    const reply = await runScript(this.#commands, scripts.guardAdd, {
      keys: [this.#key(view, shard)],
      args: [
        String(epoch.tag),
        String(shardBytes(epoch)),
        String(epoch.hashes),
        positions,
        this.#channel,
        addedMessage(this.#name, epoch.id, digests),
      ],
    })
    return Number(reply)
  }

  /** All the bits that were collected for a shard, at once. */
  async merge(view: EpochView, shard: number, { bits, added }: Collected): Promise<number> {
    const { epoch } = view
    const whole = Buffer.alloc(shardBytes(epoch))
    whole.set(bits, headBits / 8)
    const key = this.#key(view, shard)
    const reply = await runScript(this.#commands, scripts.guardMerge, {
      keys: [key, `${key}:merge`],
      args: [String(epoch.tag), String(whole.length), whole, String(added)],
    })
    return Number(reply)
  }

  async count(view: EpochView, shard: number): Promise<number> {
    const [count] = await this.#get(view, shard, [])
    return count!
  }

  async create(view: EpochView, shard: number, lifeMs: number): Promise<void> {
    const { tag } = view.epoch
    await runScript(this.#commands, scripts.guardCreate, {
      keys: [this.#key(view, shard)],
      args: [String(tag), String(shardBytes(view.epoch)), String(lifeMs)],
    })
  }

  /** Its bits and its count; `undefined`: it is lost. Whole, since nothing comes between its ends. */
  async download(view: EpochView, shard: number): Promise<Downloaded | undefined> {
    const { epoch } = view
    const key = this.#key(view, shard)
    const last = String(shardBytes(epoch) - 1)
    const reply = (await this.#commands.keyed('GETRANGE', key, ['0', last])) as Bytes
    const bytes = Buffer.from(reply.buffer, reply.byteOffset, reply.byteLength)
    if (bytes.length !== shardBytes(epoch)) return undefined
    if (bytes.readUInt32BE(0) !== epoch.tag) return undefined
    if (bytes.readUInt32BE(bytes.length - 4) !== epoch.tag) return undefined
    return { bits: bytes.subarray(headBits / 8, -4), count: bytes.readUInt32BE(4) }
  }

  /** Its count, or that it is lost, and what else is asked for. */
  async #get(view: EpochView, shard: number, words: readonly string[]): Promise<number[]> {
    const { epoch } = view
    const last = String(shardBytes(epoch) * 8 - 32)
    const head = ['GET', 'u32', '0', 'GET', 'u32', '32', 'GET', 'u32', last, ...words]
    const reply = await this.#bitfield(this.#key(view, shard), head)
    const [first, count, second, ...bits] = (reply as readonly unknown[]).map(Number)
    return first === epoch.tag && second === epoch.tag ? [count!, ...bits] : [lost]
  }

  async #bitfield(key: string, words: readonly string[]): Promise<unknown> {
    try {
      return await this.#commands.keyed(this.#read, key, words)
    } catch (error) {
      const { message } = error as Error
      if (message.startsWith('WRONGTYPE')) return [0, 0, 0]
      if (this.#read === 'BITFIELD' || !/unknown command/i.test(message)) throw error
      this.#read = 'BITFIELD'
      return this.#commands.keyed(this.#read, key, words)
    }
  }

  #key(view: EpochView, shard: number): string {
    return shardKey(this.#name, view.epoch.id, shard)
  }
}

export interface Collected {
  readonly bits: Uint8Array
  readonly added: number
}

export interface Downloaded {
  readonly bits: Uint8Array
  readonly count: number
}

function positionsFor({ epoch }: EpochView, digest: Digest): Uint32Array {
  const positions = new Uint32Array(epoch.hashes)
  positionsOf(digest, epoch, positions)
  return positions
}
