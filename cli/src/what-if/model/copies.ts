// Which share of the processes has a key's value in its own memory, and so answers without a round
// trip. Nobody keeps a list of ten thousand processes: a process that is asked at the rate r has not
// been asked for τ with the chance e^(−rτ), and that is the share that has no copy yet.
// A copy of the value before stays in use until its own ttl is over, and is then served once more
// where a stale window allows it, since that process has not heard of the newer one.

import type { Cached, Key } from './machine.ts'
import type { World } from './world.ts'

export class Copies {
  readonly #world: World
  readonly #key: Key
  #own = 0
  #older = 0
  #olderValue: Cached | undefined

  constructor(world: World, key: Key) {
    this.#world = world
    this.#key = key
  }

  /** A newer value: `heard` is the share of the processes that got it with its push. */
  replace(before: Cached | undefined, heard: number): void {
    // Who heard had asked while it was stale, and has a copy. What is older still has ended meanwhile.
    this.#older = before === undefined ? 0 : Math.max(0, Math.min(1, this.#own) - heard)
    this.#olderValue = before
    this.#own = this.#world.rules.memory ? Math.max(heard, 1 / this.#world.scenario.processes) : 0
  }

  drop(): void {
    this.#own = 0
    this.#older = 0
  }

  /** Hits of a value that is fresh from `from` to `to`. */
  hitFresh(value: Cached, from: number, to: number): void {
    if (to <= from) return
    const { random, rules, scenario, tally } = this.#world
    const until = this.#olderValue?.freshUntil ?? 0
    const turns = [until, until + rules.staleWhileRevalidateMs]
    const turn = turns.find((at) => this.#older > 1e-9 && from < at && at < to)
    if (turn !== undefined) {
      this.hitFresh(value, from, turn)
      return this.hitFresh(value, turn, to)
    }
    const trip = { from: scenario.roundTripMs, to: scenario.roundTripMs }
    const here = { from: 0, to: 0 }
    const age = { from: from - value.askedAt, to: to - value.askedAt }
    const expected = this.#key.rate * (to - from)
    if (!rules.memory) {
      const count = random.poisson(expected)
      return tally.answer({ kind: 'store', count, latency: trip, age })
    }
    const asked = -Math.expm1(-expected / scenario.processes)
    const none = Math.max(0, 1 - this.#own - this.#older)
    const fetched = scenario.processes * none * asked
    const older = this.#olderValue
    const isOlderUsable = older !== undefined && from < until
    const touched = isOlderUsable ? 0 : scenario.processes * this.#older * asked
    this.#own += none * asked + (isOlderUsable ? 0 : this.#older * asked)
    if (!isOlderUsable) this.#older *= 1 - asked
    tally.answer({ kind: 'store', count: random.poisson(fetched), latency: trip, age })
    if (older !== undefined && to <= until + rules.staleWhileRevalidateMs && touched > 0) {
      tally.answer({
        kind: 'stale',
        count: random.poisson(touched),
        latency: here,
        age: { from: from - older.askedAt, to: to - older.askedAt },
        past: { from: Math.max(0, from - until), to: Math.max(0, to - until) },
      })
    } else {
      const count = random.poisson(touched)
      tally.answer({ kind: 'store', count, latency: trip, age })
    }
    const held = Math.max(0, expected - fetched - touched)
    const ofOlder = isOlderUsable ? held * Math.min(1, this.#older) : 0
    tally.answer({ kind: 'memory', count: random.poisson(held - ofOlder), latency: here, age })
    if (older === undefined || ofOlder === 0) return
    const olderAge = { from: from - older.askedAt, to: to - older.askedAt }
    tally.answer({ kind: 'memory', count: random.poisson(ofOlder), latency: here, age: olderAge })
  }

  /** What is served stale from `from` to `to` while a newer value is on its way, or cannot be had. */
  hitStale(value: Cached, from: number, to: number): void {
    if (to <= from) return
    const { random, scenario, tally } = this.#world
    const expected = this.#key.rate * (to - from)
    const held = Math.min(1, this.#own + this.#older)
    const asked = -Math.expm1(-expected / scenario.processes)
    const fetched = Math.min(expected, scenario.processes * (1 - held) * asked)
    const answer = (mean: number, latencyMs: number): void =>
      tally.answer({
        kind: 'stale',
        count: random.poisson(mean),
        latency: { from: latencyMs, to: latencyMs },
        age: { from: from - value.askedAt, to: to - value.askedAt },
        past: {
          from: Math.max(0, from - value.freshUntil),
          to: Math.max(0, to - value.freshUntil),
        },
      })
    if (!this.#world.rules.memory) return answer(expected, scenario.roundTripMs)
    this.#own += (1 - held) * asked
    answer(fetched, scenario.roundTripMs)
    answer(expected - fetched, 0)
  }
}
