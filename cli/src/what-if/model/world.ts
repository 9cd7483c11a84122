// One strategy's world: the virtual clock, chance, the source, and what is counted. It draws nothing
// for a request that changes no state: machines (one per key) account for those in bulk. What it
// draws are the loads, the requests that begin them, and what ends them.

import { Agenda } from './agenda.ts'
import { drawLoadMs, meanLoadMs } from './load-times.ts'
import { Queue } from './queue.ts'
import { randomFrom, type Random } from './random.ts'
import type { Rules, Scenario } from './scenario.ts'
import { Source } from './source.ts'
import { Tally } from './tally.ts'
import type { Ended, Key, Loading, Outcome } from './machine.ts'

/** So many groups stand for the requests of one load time, at least, where each would begin a load. */
const groupsPerLoad = 64
/** Loads under way; beyond, a source does not come back within any run, and memory ends. */
const mostUnderWay = 500_000

export class World {
  readonly scenario: Scenario
  readonly rules: Rules
  readonly random: Random
  readonly tally: Tally
  readonly agenda = new Agenda()
  readonly source: Source
  readonly connections: Queue
  readonly #limit: Queue | undefined
  readonly #underWay = new Set<Loading & { left: number }>()
  #now = 0

  constructor(scenario: Scenario, rules: Rules, limited: 'limited' | 'unlimited') {
    this.scenario = scenario
    this.rules = rules
    this.random = randomFrom(scenario.seed)
    const { overhead } = scenario
    this.tally = new Tally(
      scenario.timeoutMs,
      overhead === undefined ? undefined : () => drawLoadMs(overhead, this.random),
    )
    this.source = new Source(scenario.source.places)
    this.connections = new Queue(this.agenda, {
      places: scenario.source.connections,
      deadlineMs: Infinity,
      perSecond: Infinity,
    })
    if (limited === 'unlimited') return
    const { places, queueMs, perSecond } = rules.limit
    this.#limit = new Queue(this.agenda, {
      places: places * scenario.processes,
      deadlineMs: queueMs,
      perSecond,
    })
  }

  get now(): number {
    return this.#now
  }

  /** Callers queue for the limit. */
  get isLimiting(): boolean {
    return (this.#limit?.length ?? 0) > 0
  }

  after(ms: number, run: () => void): void {
    this.agenda.at(this.#now + ms, run)
  }

  /**
   * Calls `take` with the requests of a key, each of which begins a load, for as long as `goesOn` says:
   * one by one, or where they come in masses as a group in the middle of a span.
   */
  eachMiss(key: Key, goesOn: () => boolean, take: (count: number) => void): void {
    if (this.#now >= this.scenario.durationMs) return
    const spanMs = (meanLoadMs(this.scenario.load) * this.source.slowdown) / groupsPerLoad
    const again = (): void => {
      if (goesOn()) this.eachMiss(key, goesOn, take)
    }
    // The first of them says when all begins, and is never one of a group.
    if (key.running === 0 || key.rate * spanMs <= 1) {
      this.after(this.random.exponential(1 / key.rate), () => {
        if (goesOn()) take(1)
        again()
      })
      return
    }
    const count = this.random.poisson(key.rate * spanMs)
    if (count > 0) this.after(spanMs / 2, () => goesOn() && take(count))
    this.after(spanMs, again)
  }

  /** How many requests come for a key: none after the end. */
  arrivals(key: Key, from: number, to: number): number {
    return this.random.poisson(key.rate * Math.max(0, this.untilEnd(to) - from))
  }

  untilEnd(at: number): number {
    return Math.min(at, this.scenario.durationMs)
  }

  load(asked: Loading): void {
    if (asked.cameAt > this.scenario.durationMs) return
    const loading = { ...asked, left: asked.count }
    this.#underWay.add(loading)
    const enter = (
      queue: Queue | undefined,
      then: (count: number) => void,
      count: number,
    ): void => {
      if (queue === undefined) return then(count)
      queue.enter({
        now: this.#now,
        count,
        go: then,
        refuse: (refused) =>
          this.#end(loading, { how: 'refused', count: refused, askedAt: this.#now }),
      })
    }
    this.after(loading.afterMs, () =>
      enter(
        this.#limit,
        (admitted) => enter(this.connections, (count) => this.#begin(loading, count), admitted),
        loading.count,
      ),
    )
  }

  /**
   * Runs until the end, then until everyone was answered or has given up; or until so much is under
   * way that the source will not come back.
   */
  run(): Outcome {
    const { durationMs, timeoutMs } = this.scenario
    let backlogMs: number | undefined
    this.agenda.at(durationMs, () => (backlogMs = this.#backlogMs()))
    let isMelted = false
    for (;;) {
      const eventAt = this.agenda.nextAt
      const endAt = this.source.nextAt
      const at = Math.min(eventAt, endAt)
      if (at > durationMs + timeoutMs || at === Infinity) break
      if (at > durationMs && this.#underWay.size === 0) break
      this.#now = Math.max(this.#now, at)
      if (eventAt <= endAt) this.agenda.take()?.()
      else this.source.endNext(this.#now)
      isMelted = this.#underWay.size > mostUnderWay
      if (isMelted) break
    }
    const endedAt = this.untilEnd(isMelted ? this.#now : durationMs)
    if (!isMelted && this.#underWay.size > 0) this.#now = durationMs + timeoutMs
    for (const loading of this.#underWay) {
      this.#end(loading, { how: 'failed', count: loading.left, askedAt: this.#now })
    }
    return { endedAt, isMelted, backlogMs: backlogMs ?? this.#backlogMs() }
  }

  #backlogMs(): number {
    const before = this.source.running + this.connections.length
    return (before * meanLoadMs(this.scenario.load)) / this.scenario.source.places
  }

  #begin(loading: Loading & { left: number }, count: number): void {
    const askedAt = this.#now
    const { key } = loading
    const how = this.#fate()
    const nth = this.tally.loads
    this.tally.loads += count
    if (key.running === 0 || key.overtaken) this.tally.expiries++
    key.overtaken = false
    key.running += count
    this.source.begin(askedAt, {
      count,
      ms: drawLoadMs(this.scenario.load, this.random, nth),
      onEnd: () => {
        key.running -= count
        if (key.running === 0) key.overtaken = false
        this.connections.leave(this.#now, count)
        this.#limit?.leave(this.#now, count)
        this.#end(loading, { how, count, askedAt })
      },
    })
  }

  #fate(): Ended['how'] {
    const { deaths, failures } = this.scenario
    const chance = this.random.uniform()
    if (chance < deaths) return 'died'
    return chance < deaths + (1 - deaths) * failures ? 'failed' : 'value'
  }

  #end(loading: Loading & { left: number }, ended: Ended): void {
    loading.left -= ended.count
    if (loading.left <= 0) this.#underWay.delete(loading)
    loading.onEnd(ended)
  }
}
