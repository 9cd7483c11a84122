/**
 * Requests by schedule, answered or not: reads of every kind, own changes, callers who leave. What
 * comes back is held against what was promised.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { WorkerPlan } from './messages.ts'
import type { Promises } from './promises.ts'
import { pick } from './random.ts'
import { tagOf, type Shop } from './shop.ts'
import type { Source } from './source.ts'
import type { Tally } from './tally.ts'

export const counts = { hot: 20, cold: 2_000, batch: 50, written: 6, failing: 10 }

const upTo = (count: number, random: () => number): number => Math.floor(random() * count)

interface Parts {
  readonly shop: Shop
  readonly source: Source
  readonly promises: Promises
  readonly tally: Tally
  readonly random: () => number
  readonly plan: WorkerPlan
}

export class Traffic {
  readonly #parts: Parts
  readonly #open = new Set<Promise<void>>()
  #running: Promise<void> = Promise.resolve()
  #round = { isOver: false }

  constructor(parts: Parts) {
    this.#parts = parts
  }

  start(perSecond: number): void {
    this.#round = { isOver: false }
    this.#running = this.#run(1_000 / perSecond, this.#round)
  }

  async stop(): Promise<void> {
    this.#round.isOver = true
    await this.#running
    await Promise.all(this.#open)
  }

  async #run(everyMs: number, round: { readonly isOver: boolean }): Promise<void> {
    const { random } = this.#parts
    const began = performance.now()
    for (let n = 0; !round.isOver; n += 1) {
      const wait = began + (n + random()) * everyMs - performance.now()
      // A process that was stopped does not make up for what it missed.
      if (wait < -500) n += Math.floor(-wait / everyMs)
      if (wait > 0) await sleep(wait)
      this.#parts.tally.latestMs = Math.max(this.#parts.tally.latestMs, -wait)
      const request = this.#one().finally(() => this.#open.delete(request))
      this.#open.add(request)
    }
  }

  #one(): Promise<void> {
    const { tally, random } = this.#parts
    const kinds = [
      [0.5, () => this.#hot()],
      [0.15, () => this.#cold()],
      [0.1, () => this.#batch()],
      [0.1, () => this.#written()],
      [0.04, () => this.#write()],
      [0.03, () => this.#change()],
      [0.02, () => this.#changeTag()],
      [0.03, () => this.#leave()],
      [0.03, () => this.#fails()],
    ] as const
    let luck = random()
    const [, run] = kinds.find(([share]) => (luck -= share) < 0) ?? kinds[0]
    tally.requests += 1
    return run()
  }

  async #hot(): Promise<void> {
    const { shop, promises, tally, random } = this.#parts
    const n = upTo(counts.hot, random)
    const check = promises.expects(`hot-${n}`)
    await tally.read(async () => {
      const found = await shop.resources.hot.lookup(n)
      check(found.value)
      return found.outcome
    })
  }

  async #cold(): Promise<void> {
    const { shop, tally, random } = this.#parts
    await tally.read(
      async () => (await shop.resources.cold.lookup(upTo(counts.cold, random))).outcome,
    )
  }

  async #batch(): Promise<void> {
    const { shop, promises, tally, random } = this.#parts
    const all = Array.from({ length: 10 }, () => upTo(counts.batch, random))
    const checks = all.map(
      (n) => [promises.expects(`batch-${n}`), promises.expects(tagOf(n))] as const,
    )
    await tally.read(async () => {
      const values = await shop.resources.batch.getMany(all)
      values.forEach(({ own, tag }, at) => {
        checks[at]?.[0](own)
        checks[at]?.[1](tag)
      })
      return 'batch'
    })
  }

  async #written(): Promise<void> {
    const { shop, promises, tally, random, plan } = this.#parts
    const key = `${upTo(plan.places, random)}-${upTo(counts.written, random)}`
    const check = promises.expects(`written-${key}`)
    await tally.read(async () => {
      const found = await shop.resources.written.lookup(key)
      check(found.value)
      return found.outcome
    })
  }

  readonly #writing = new Set<string>()

  async #write(): Promise<void> {
    const { shop, source, promises, tally, random, plan } = this.#parts
    const key = `${plan.place}-${upTo(counts.written, random)}`
    // One after the other, so that the last one in the cache is the last in the source.
    if (this.#writing.has(key)) return
    this.#writing.add(key)
    const version = await source.change(`written-${key}`)
    await tally.change(async () => {
      if (random() < 0.6) await shop.resources.written.set(key, version)
      else await shop.resources.written.invalidate(key)
    })
    promises.made(`written-${key}`, version)
    this.#writing.delete(key)
  }

  async #change(): Promise<void> {
    const { shop, source, promises, tally, random } = this.#parts
    const name = pick(random, ['hot', 'batch'] as const)
    const n = upTo(counts[name], random)
    const version = await source.change(`${name}-${n}`)
    await tally.change(() => shop.resources[name].invalidate(n))
    promises.made(`${name}-${n}`, version)
    if (random() < 0.3)
      await tally.change(() => shop.resources.hot.expire(upTo(counts.hot, random)))
  }

  async #changeTag(): Promise<void> {
    const { shop, source, promises, tally, random } = this.#parts
    const tag = tagOf(upTo(5, random))
    const version = await source.change(tag)
    await tally.change(() => shop.cache.invalidateTags(tag))
    promises.made(tag, version)
  }

  /** A caller who leaves changes nothing for the others. */
  async #leave(): Promise<void> {
    const { shop, tally, random } = this.#parts
    const leaving = new AbortController()
    const left = sleep(random() * 20).then(() => leaving.abort())
    const n = upTo(counts.cold, random)
    await tally.read(async () => (await shop.resources.cold.lookup(n, leaving)).outcome)
    await left
  }

  async #fails(): Promise<void> {
    const { shop, tally, random } = this.#parts
    const n = upTo(counts.failing, random)
    await tally.failing(async () => (await shop.resources.failing.lookup(n)).outcome)
  }

  /** What each key would be answered with now that its own process has been promised. */
  async keepPromises(): Promise<void> {
    const { shop, promises, tally } = this.#parts
    for (const name of promises.names()) {
      const check = promises.expects(name)
      const [kind, ...rest] = name.split('-')
      const at = rest.join('-')
      await tally.read(async () => {
        if (kind === 'hot') check(await shop.resources.hot.get(Number(at)))
        else if (kind === 'written') check(await shop.resources.written.get(at))
        else if (kind === 'batch') check((await shop.resources.batch.getMany([Number(at)]))[0]!.own)
        else check((await shop.resources.batch.getMany([Number(at)]))[0]!.tag)
        return 'kept'
      })
    }
  }
}
