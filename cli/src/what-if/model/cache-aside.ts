// Cache-aside, with or without XFetch. On a miss every request loads. With β each request refreshes
// early with the probability e^(−x/βΔ), x before expiry (Vattani, Chierichetti, Lowenstein, PVLDB 8,
// 2015): among Poisson arrivals those that do are a Poisson process too, whose next event can be
// drawn without drawing the others. β = 0 is no early refresh: the plain recipe.

import type { Cached, Key, Machine } from './machine.ts'
import type { World } from './world.ts'
import { Shelf } from './shelf.ts'

export class CacheAside implements Machine {
  readonly #world: World
  readonly #key: Key
  readonly #shelf: Shelf
  readonly #beta: number

  constructor(world: World, key: Key, beta: number) {
    this.#world = world
    this.#key = key
    this.#beta = beta
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

  #awaitMiss(): void {
    const { changes } = this.#shelf
    const goesOn = (): boolean => changes === this.#shelf.changes
    this.#world.eachMiss(this.#key, goesOn, (count) => this.#load(count))
  }

  #put(cached: Cached): void {
    this.#shelf.put(cached, () => this.#awaitMiss())
    this.#awaitEarly(cached, this.#shelf.changes, this.#world.now)
  }

  /** The next request that refreshes early; each of them does, until a newer value is there. */
  #awaitEarly(cached: Cached, changes: number, since: number): void {
    const lead = this.#beta * cached.tookMs
    if (lead <= 0) return
    const mass = this.#key.rate * lead
    const before =
      Math.exp((since - cached.freshUntil) / lead) + this.#world.random.exponential(1) / mass
    const at = cached.freshUntil + lead * Math.log(before)
    if (at >= cached.freshUntil) return
    this.#world.agenda.at(at, () => {
      if (changes !== this.#shelf.changes) return
      this.#load(1)
      this.#awaitEarly(cached, changes, at)
    })
  }

  #load(count: number): void {
    const { scenario, rules, tally } = this.#world
    const cameAt = this.#world.now
    const trip = scenario.roundTripMs
    this.#world.load({
      key: this.#key,
      count,
      cameAt,
      afterMs: trip,
      onEnd: ({ how, count: ended, askedAt }) => {
        const { now } = this.#world
        const latency = now - cameAt + trip // the SET is awaited
        const at = { from: latency, to: latency }
        if (how !== 'value') return tally.answer({ kind: 'failed', count: ended, latency: at })
        const age = { from: now - askedAt, to: now - askedAt }
        tally.answer({ kind: 'loaded', count: ended, latency: at, age })
        this.#put({ askedAt, freshUntil: now + rules.ttlMs, tookMs: now - askedAt })
      },
    })
  }
}
