// breakwater, for one key: while a value is fresh it is served; the first process whose draw has come
// refreshes it early; past its ttl it is served stale where `staleWhileRevalidate` allows it, while
// one load runs; else everybody waits for that load and is woken by its push. A failed load is covered
// by `staleIfError`. A write removes the value and fences the load that runs: those who came before
// get its answer, nobody else does.

import { Copies } from './copies.ts'
import { firstEarlyAt } from './early.ts'
import { answerFlight, type Flight } from './flight.ts'
import { covering, phaseOf, type Phase } from './phase.ts'
import type { Cached, Ended, Key, Machine } from './machine.ts'
import type { World } from './world.ts'

export class Breakwater implements Machine {
  readonly #world: World
  readonly #key: Key
  readonly #copies: Copies
  #cached: Cached | undefined
  #flight: Flight | undefined
  #backoffUntil = 0
  #earlyAt = Infinity
  #settledAt = 0
  #plans = 0

  constructor(world: World, key: Key) {
    this.#world = world
    this.#key = key
    this.#copies = new Copies(world, key)
  }

  begin(cached: Cached | undefined): void {
    this.#cached = cached
    if (cached !== undefined) {
      const filledAt = cached.askedAt + cached.tookMs
      const { processes } = this.#world.scenario
      this.#copies.replace(undefined, -Math.expm1((this.#key.rate / processes) * filledAt))
    }
    this.#earlyAt = firstEarlyAt(this.#world, this.#key, this.#cached)
    const { start } = this.#world.scenario
    if (start.kind === 'filled' && start.loadingUntilMs !== undefined) {
      const flight: Flight = { beganAt: 0, callers: 0, waiting: [] }
      this.#flight = flight
      this.#world.after(start.loadingUntilMs, () =>
        this.#ended(flight, { how: 'value', count: 1, askedAt: 0 }),
      )
    }
    this.#plan()
    const { everyMs } = this.#world.rules
    if (everyMs !== undefined) {
      this.#world.after(this.#world.random.uniform() * everyMs, () => this.#scheduled(everyMs))
    }
  }

  write(): void {
    const { now, rules } = this.#world
    this.settle(now)
    if (this.#key.running > 0) this.#key.overtaken = true
    this.#cached = undefined
    this.#flight = undefined // those who wait for it keep it
    this.#backoffUntil = 0
    this.#copies.drop()
    if (rules.everyMs !== undefined) this.#load(0)
    this.#plan()
  }

  settle(now: number): void {
    const from = this.#settledAt
    const phase = this.#phase(from)
    this.#settledAt = now
    if (now <= from) return
    const cached = this.#cached
    switch (phase) {
      case 'fresh':
        return this.#copies.hitFresh(cached!, from, this.#world.untilEnd(now))
      case 'stale':
        return this.#copies.hitStale(cached!, from, this.#world.untilEnd(now))
      case 'waiting': {
        const to = this.#world.untilEnd(now)
        const count = this.#world.arrivals(this.#key, from, to)
        if (count > 0) this.#flight!.waiting.push({ from, to, count })
        return
      }
      case 'idle':
    }
  }

  #phase(at: number): Phase {
    return phaseOf(this.#world.rules, at, {
      cached: this.#cached,
      isLoading: this.#flight !== undefined,
      restsUntil: this.#backoffUntil,
    })
  }

  /** What comes next by itself. Whoever changes the state plans anew. */
  #plan(): void {
    const { now, rules, random } = this.#world
    const plan = ++this.#plans
    const at = (instant: number, run: () => void): void => {
      if (instant === Infinity) return
      this.#world.agenda.at(Math.max(now, instant), () => {
        if (plan !== this.#plans) return
        this.settle(this.#world.now)
        run()
        this.#plan()
      })
    }
    const again = (): void => {}
    switch (this.#phase(now)) {
      case 'fresh':
        if (this.#earlyAt < this.#cached!.freshUntil) return at(this.#earlyAt, () => this.#early())
        return at(this.#cached!.freshUntil, again)
      case 'stale': {
        const ends = [rules.staleWhileRevalidateMs, rules.staleIfErrorMs]
          .map((windowMs) => this.#cached!.freshUntil + windowMs)
          .concat(this.#backoffUntil)
          .filter((end) => end > now)
        return at(Math.min(...ends), again)
      }
      case 'idle':
        return at(now + random.exponential(1 / this.#key.rate), () => this.#first())
      case 'waiting':
    }
  }

  #early(): void {
    const { now } = this.#world
    this.#earlyAt = Infinity
    if (this.#flight !== undefined || now < this.#backoffUntil || this.#world.isLimiting) return
    this.#load(0)
  }

  #scheduled(everyMs: number): void {
    const { now } = this.#world
    this.settle(now)
    const isRecent = now - (this.#cached?.askedAt ?? -Infinity) < everyMs / 2
    if (this.#flight === undefined && !isRecent) this.#load(0)
    this.#plan()
    this.#world.after(everyMs, () => this.#scheduled(everyMs))
  }

  /** The first request that finds nothing fresh, and nobody at work. */
  #first(): void {
    const { now, rules, scenario, tally } = this.#world
    const cached = this.#cached
    const past = cached === undefined ? Infinity : now - cached.freshUntil
    if (cached === undefined || past >= rules.staleWhileRevalidateMs) return this.#load(1)
    const age = { from: now - cached.askedAt, to: now - cached.askedAt }
    const latency = { from: 0, to: rules.memory ? 0 : scenario.roundTripMs }
    tally.answer({ kind: 'stale', count: 1, latency, age, past: { from: past, to: past } })
    this.#load(0)
  }

  #load(callers: 0 | 1): void {
    const { now, scenario } = this.#world
    this.#begin({ beganAt: now, callers, waiting: [] }, scenario.roundTripMs * (1 + callers))
  }

  #begin(flight: Flight, afterMs: number): void {
    this.#flight = flight
    this.#world.load({
      key: this.#key,
      count: 1,
      cameAt: flight.beganAt,
      afterMs,
      onEnd: (ended) => this.#ended(flight, ended),
    })
  }

  /** Nobody knows until its lease ends; then one of those who wait takes over. */
  #died(flight: Flight, tookMs: number): void {
    const { rules, scenario } = this.#world
    const orphaned = { ...flight, callers: 0 } as const
    answerFlight(this.#world, { ...flight, waiting: [] }, undefined)
    // A write has deleted its lease: whoever waits joins those who came later.
    if (this.#flight !== flight && this.#flight !== undefined) {
      this.#flight.waiting.push(...flight.waiting)
      return
    }
    this.#flight = orphaned
    const sinceRenewalMs = tookMs % (rules.leaseMs / 3)
    this.#world.after(rules.leaseMs - sinceRenewalMs, () => {
      if (this.#flight === orphaned) this.#begin(orphaned, scenario.roundTripMs)
      this.#plan()
    })
    this.#plan()
  }

  #ended(flight: Flight, { how, askedAt }: Ended): void {
    const { now, rules } = this.#world
    if (how === 'died') {
      this.settle(now)
      return this.#died(flight, now - askedAt)
    }
    const isCurrent = this.#flight === flight
    if (isCurrent) this.settle(now)
    if (isCurrent) this.#flight = undefined
    const isValue = how === 'value'
    const stale = isValue ? undefined : covering(rules, now, this.#cached)
    answerFlight(this.#world, flight, isValue ? { askedAt } : stale)
    if (!isCurrent) return this.#plan() // overtaken by a write: fenced
    if (isValue) this.#fill({ askedAt, beganAt: flight.beganAt })
    else if (stale !== undefined || this.#phase(now) === 'fresh') {
      this.#backoffUntil = now + rules.errorBackoffMs
      this.#earlyAt = this.#backoffUntil
    }
    this.#plan()
  }

  #fill({ askedAt, beganAt }: { askedAt: number; beganAt: number }): void {
    const { now, rules, random, scenario } = this.#world
    const before = this.#cached
    const sample = now - askedAt
    const tookMs = before === undefined ? sample : before.tookMs + (sample - before.tookMs) * 0.3
    const ttlMs = rules.ttlMs * (1 - rules.jitter * random.uniform())
    // Processes that were asked since the value was stale wait for the push, callers or none.
    const since = Math.max(beganAt, before?.freshUntil ?? 0)
    const asked = Math.max(0, now - since) * (this.#key.rate / scenario.processes)
    this.#copies.replace(before, -Math.expm1(-asked))
    this.#cached = { askedAt, freshUntil: now + ttlMs, tookMs }
    this.#earlyAt = firstEarlyAt(this.#world, this.#key, this.#cached)
  }
}
