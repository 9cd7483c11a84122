// What the recipes keep of a key in the shared store: a value until its ttl is over. Hits change
// nothing, so those between two changes are drawn as one number.

import type { Cached, Key } from './machine.ts'
import type { World } from './world.ts'

export class Shelf {
  readonly #world: World
  readonly #key: Key
  #cached: Cached | undefined
  #settledAt = 0
  #wroteAt = -Infinity
  /** Counts what was put and what has gone. */
  changes = 0

  constructor(world: World, key: Key) {
    this.#world = world
    this.#key = key
  }

  get cached(): Cached | undefined {
    return this.#cached
  }

  /** What was read before the last write is wrong from then on. */
  isOutdated(cached: Pick<Cached, 'askedAt'>): boolean {
    return cached.askedAt < this.#wroteAt
  }

  /** `lapse` runs when its ttl is over, unless something else was stored meanwhile. */
  put(cached: Cached, lapse: () => void): void {
    this.settle(this.#world.now)
    this.#cached = cached
    const change = ++this.changes
    this.#world.agenda.at(cached.freshUntil, () => {
      if (change !== this.changes) return
      this.#drop()
      lapse()
    })
  }

  /** Whether there was something. */
  write(): boolean {
    const had = this.#cached !== undefined
    this.#drop()
    this.#wroteAt = this.#world.now
    if (this.#key.running > 0) this.#key.overtaken = true
    return had
  }

  settle(now: number): void {
    const cached = this.#cached
    if (cached !== undefined) {
      const { scenario, tally } = this.#world
      const trip = scenario.roundTripMs
      tally.answer({
        kind: 'store',
        count: this.#world.arrivals(this.#key, this.#settledAt, now),
        latency: { from: trip, to: trip },
        age: { from: this.#settledAt - cached.askedAt, to: now - cached.askedAt },
        isOutdated: this.isOutdated(cached),
      })
    }
    this.#settledAt = now
  }

  #drop(): void {
    this.settle(this.#world.now)
    this.#cached = undefined
    this.changes++
  }
}
