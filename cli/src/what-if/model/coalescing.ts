// Callers of one process share its load, and that is all: as many loads per expiry as there are
// processes that are asked while the first of them runs.

import type { Cached, Ended, Key, Machine } from './machine.ts'
import type { World } from './world.ts'
import { Shelf } from './shelf.ts'

export class Coalescing implements Machine {
  readonly #world: World
  readonly #key: Key
  readonly #shelf: Shelf
  #loading = 0

  constructor(world: World, key: Key) {
    this.#world = world
    this.#key = key
    this.#shelf = new Shelf(world, key)
  }

  begin(cached: Cached | undefined): void {
    if (cached === undefined || cached.freshUntil <= 0) this.#awaitMiss()
    else this.#put(cached)
  }

  write(): void {
    this.#shelf.write()
    this.#awaitMiss()
  }

  settle(now: number): void {
    this.#shelf.settle(now)
  }

  /** Of the next requests, those that reach a process which does not load yet. */
  #awaitMiss(): void {
    const { changes } = this.#shelf
    const goesOn = (): boolean => changes === this.#shelf.changes
    const { processes } = this.#world.scenario
    this.#world.eachMiss(this.#key, goesOn, (count) => {
      const idle = processes - this.#loading
      // So many of the idle ones are reached by `count` requests that choose at random.
      const reached = idle * -Math.expm1(count * Math.log1p(-1 / Math.max(processes, 1 + 1e-9)))
      const whole = Math.floor(reached)
      const begun = whole + (this.#world.random.uniform() < reached - whole ? 1 : 0)
      if (begun > 0) this.#load(begun)
    })
  }

  #load(count: number): void {
    const cameAt = this.#world.now
    this.#loading += count
    this.#world.load({
      key: this.#key,
      count,
      cameAt,
      afterMs: this.#world.scenario.roundTripMs,
      onEnd: (ended) => this.#ended(ended, cameAt),
    })
  }

  #ended({ how, count, askedAt }: Ended, cameAt: number): void {
    const { now, scenario, random, rules, tally } = this.#world
    const trip = scenario.roundTripMs
    const took = now - cameAt
    this.#loading -= count
    const joined = random.poisson(
      (this.#key.rate / scenario.processes) * count * (this.#world.untilEnd(now) - cameAt),
    )
    const isValue = how === 'value'
    const age = isValue ? { from: now - askedAt, to: now - askedAt } : undefined
    tally.answer({
      kind: isValue ? 'loaded' : 'failed',
      count,
      latency: { from: took + trip, to: took + trip },
      age,
    })
    tally.answer({
      kind: isValue ? 'waited' : 'failed',
      count: joined,
      latency: { from: now - this.#world.untilEnd(now), to: took },
      age,
      isOutdated: isValue && this.#shelf.isOutdated({ askedAt }),
    })
    if (isValue) this.#put({ askedAt, freshUntil: now + rules.ttlMs, tookMs: now - askedAt })
  }

  #put(cached: Cached): void {
    this.#shelf.put(cached, () => this.#awaitMiss())
  }
}
