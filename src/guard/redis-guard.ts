/**
 * The guard that processes share. What is known here is answered here; everything else is asked, and
 * whatever is not certain is "maybe". This file decides which; how is in the files beside it.
 */
import { BreakwaterError } from '../core/errors.ts'
import { planShards } from '../core/bloom-shards.ts'
import { expectedErrorRate } from '../core/bloom.ts'
import { port, type Clock, type GuardPort } from '../ports.ts'
import { Adds } from './adds.ts'
import { Asks } from './asks.ts'
import { batchesOf } from './each-of.ts'
import { builtKey, overheadBytes, shardBytes } from './epoch.ts'
import { Filter } from './filter.ts'
import { channelOf, listenOn } from './guard-bus.ts'
import type { GuardInfo } from './guard-info.ts'
import { changedMessage } from './guard-message.ts'
import type { RedisWanted } from './guard-options.ts'
import { inTurn } from './in-turn.ts'
import type { Pace } from './pace.ts'
import { buildEpoch, type Plan } from './rebuild.ts'
import { Replica } from './replica.ts'

const batch = 1_000

export class RedisGuard<Arg> implements GuardPort<Arg> {
  readonly [port] = 'guard'
  readonly #wanted: RedisWanted<Arg>
  readonly #filter: Filter
  readonly #asks: Asks
  readonly #adds: Adds
  readonly #replica: Replica | undefined
  readonly #plan: Plan
  readonly #inTurn = inTurn()
  #closed = false

  constructor(wanted: RedisWanted<Arg>, clock: Clock, pace: Pace) {
    this.#wanted = wanted
    const { connection, name, client, timeoutMs } = wanted
    const channel = channelOf(connection)
    const filter = (this.#filter = new Filter({ connection, clock, name, channel, pace }))
    this.#asks = new Asks(filter, timeoutMs)
    this.#adds = new Adds(filter, async () => {
      const [server] = connection.commands.servers()
      await server?.publish(channel, changedMessage(name))
    })
    this.#plan = {
      capacity: wanted.capacity,
      errorRate: wanted.errorRate,
      onlyBitmaps: wanted.replica,
      channel,
      isClosed: () => this.#closed,
    }
    if (!wanted.replica) return
    const bus = { connection, clock, beatMs: pace.beatMs }
    this.#replica = new Replica(filter, (replica) => listenOn(client, bus, replica))
    this.#replica.start()
  }

  know(arg: Arg): boolean | undefined {
    const text = this.#textOf(arg)
    return text === undefined ? true : this.#know(text)
  }

  async ask(arg: Arg): Promise<boolean> {
    const text = this.#textOf(arg)
    if (text === undefined) return true
    if (this.#filter.keeper.present === undefined && !this.#closed && !this.#asks.isSilent) {
      await this.#asks.within(this.#filter.keeper.fresh())
    }
    const known = this.#know(text)
    if (known !== undefined) return known
    const view = this.#filter.current
    if (view === undefined) return true
    try {
      return await this.#asks.ask(view, text)
    } catch {
      return true // a client that throws where it should reject
    }
  }

  async add(arg: Arg): Promise<void> {
    await this.#add([this.#wanted.text(arg)])
  }

  async addMany(args: Iterable<Arg> | AsyncIterable<Arg>): Promise<void> {
    this.#refuseClosed()
    const batches = this.#textsOf(args)
    const first = await batches.next()
    if (first.done === true) return
    const all = startingWith(first.value, batches)
    // What is absent may be lost; only where there is no trace of it this is all that there is.
    if ((await this.#isNew()) && (await this.#build(all, 'first'))) return
    for await (const texts of all) await this.#add(texts)
  }

  async rebuild(all: Iterable<Arg> | AsyncIterable<Arg>): Promise<void> {
    this.#refuseClosed()
    await this.#build(this.#textsOf(all), 'anew')
  }

  info(): GuardInfo {
    const { keeper, wasBuilt, current } = this.#filter
    const epoch = current?.epoch
    if (current === undefined || epoch === undefined) {
      const isBuilding = keeper.present?.next !== undefined
      const { shards, shardBits } = planShards(this.#wanted, overheadBytes)
      return {
        kind: 'bitmap',
        state: wasBuilt ? 'lost' : isBuilding ? 'building' : 'unbuilt',
        added: 0,
        capacity: this.#wanted.capacity,
        bytes: shards * shardBytes({ shardBits, shards, hashes: 0 }),
        errorRate: 1,
      }
    }
    return {
      kind: epoch.kind,
      state: current.isAnyLost ? 'lost' : 'ready',
      added: current.added,
      capacity: epoch.capacity,
      bytes: epoch.shards * shardBytes(epoch),
      errorRate: current.isAnyLost
        ? 1
        : epoch.kind === 'bloom'
          ? epoch.errorRate
          : expectedErrorRate(epoch, current.added),
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return
    this.#closed = true
    this.#adds.close()
    this.#filter.close()
    await this.#replica?.close()
  }

  #know(text: string): boolean | undefined {
    const { keeper, current } = this.#filter
    if (this.#closed || this.#adds.has(text)) return true
    const copied = this.#replica?.has(text)
    if (copied !== undefined) return copied
    if (this.#asks.isSilent) return true
    if (keeper.present === undefined) return undefined
    if (current === undefined || !keeper.isIdentified) return true
    return current.isAnyLost && current.isLost(current.shardOf(current.passingDigest(text)))
      ? true
      : undefined
  }

  async #add(texts: readonly string[]): Promise<void> {
    this.#refuseClosed()
    for (const text of texts) this.#replica?.add(text)
    await this.#adds.add(texts)
  }

  #build(batches: AsyncIterable<readonly string[]>, mode: 'first' | 'anew'): Promise<boolean> {
    const made = { filter: this.#filter, adds: this.#adds, plan: this.#plan }
    return this.#inTurn(() => buildEpoch(made, batches, mode))
  }

  async *#textsOf(
    args: Iterable<Arg> | AsyncIterable<Arg>,
  ): AsyncGenerator<readonly string[], void, undefined> {
    const { text } = this.#wanted
    for await (const some of batchesOf(args, batch)) yield some.map(text)
  }

  /** No record, nothing that says that there was one, and none that this process has seen. */
  async #isNew(): Promise<boolean> {
    const { keeper, commands, name } = this.#filter
    try {
      const [{ current, wasBuilt }, built] = await Promise.all([
        keeper.fresh(),
        commands.keyed('EXISTS', builtKey(name), []),
      ])
      const isTraced = current !== undefined || wasBuilt || this.#filter.wasBuilt
      return !isTraced && Number(built) === 0
    } catch (error) {
      throw new BreakwaterError('STORE_UNAVAILABLE', `guard ${name}: Redis did not answer`, {
        cause: error,
      })
    }
  }

  #textOf(arg: Arg): string | undefined {
    try {
      return this.#wanted.text(arg)
    } catch {
      return undefined // no key: whoever loads it tells the caller
    }
  }

  #refuseClosed(): void {
    if (!this.#closed) return
    throw new BreakwaterError('CLOSED', `guard ${this.#filter.name}: it is closed`)
  }
}

async function* startingWith<T>(first: T, rest: AsyncGenerator<T>): AsyncGenerator<T> {
  yield first
  yield* rest
}
