/**
 * One definition whose values are made ahead, in this process: what it hears of its keys, and what
 * follows from that. That one process of all loads a key is the lease's work; that it is loaded once
 * per period is told by when the value that is there was loaded.
 */
import type { AheadDefinition, Found } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import type { PrecomputeRules } from '../cache/precompute-rules.ts'
import type { Label } from '../core/labels.ts'
import type { EntryMessage } from '../ports.ts'
import { failed, lateOf, watch, type AlertsOf, type Late } from './alerts.ts'
import { heardFill } from './fills.ts'
import { heard } from './heard.ts'
import { Listing } from './listing.ts'
import { Making } from './making.ts'
import { Plan, type Hands } from './plan.ts'
import { Rounds } from './rounds.ts'
import { errorOf } from './told-failure.ts'
import { correct, newUpkeep, reachedBy, type Upkeep } from './upkeep.ts'

/** Who has made a value in this period lets others make it once more, if that is needed. */
const mostYieldMs = 100

export class Precomputed {
  readonly #definition: AheadDefinition
  readonly #rules: PrecomputeRules
  readonly #hands: Hands
  readonly #alerts: AlertsOf
  readonly #plan: Plan
  readonly #listing: Listing
  readonly #making: Making

  constructor(hands: Hands, definition: AheadDefinition) {
    const { engine } = hands
    const { source } = definition
    const rules = source.rules.precompute!
    const plan = new Plan(hands, rules.schedule, (byMs) => this.#corrected(byMs))
    const rounds = new Rounds(engine, source.name)
    const alerts = { engine, rules: rules.alerts, now: () => plan.now }
    const refresh = (key: Upkeep): Promise<void> => this.#making.refresh(key)
    const newKey = (target: Target): Upkeep => newUpkeep(target, plan.now, refresh)
    this.#hands = hands
    this.#definition = definition
    this.#rules = rules
    this.#plan = plan
    this.#alerts = alerts
    this.#listing = new Listing({ hands, definition, plan, rounds, newKey })
    this.#making = new Making({ hands, rules, plan, rounds, alerts, listing: this.#listing })
    // In a turn of its own: the loader may use what its module defines further down.
    plan.at(plan.now, () => void this.#listing.read())
    this.#watchLater()
  }

  get late(): readonly Late[] {
    return lateOf(this.#definition, this.#listing.keys.values())
  }

  /** A request found nothing fresh. */
  ask(target: Target, found: Found): void {
    const key = this.#listing.of(target)
    if (key !== undefined) this.#ask(key, found, 0)
  }

  changed(name: string): void {
    const key = this.#listing.keys.get(name)
    if (key !== undefined) this.#making.changed(key)
  }

  changedByTag(labels: readonly Label[]): void {
    for (const key of reachedBy(labels, this.#definition, this.#listing.keys.values())) {
      this.#making.changed(key)
    }
  }

  heed(message: EntryMessage): void {
    const { id, isOwn } = heard(this.#hands, this.#definition, message)
    const key = this.#listing.keys.get(message.key)
    if (key === undefined) return
    const { engine } = this.#hands
    switch (message.type) {
      case 'published':
      case 'written':
        return this.#making.filled(key, heardFill(engine, key, id), isOwn)
      case 'failed':
        if (isOwn) return
        key.retryAt = this.#plan.now + message.backoffMs
        failed(this.#alerts, key, errorOf(engine, this.#definition, message))
        return this.#plan.next(key)
      case 'wanted':
        // Many hear it, and one is enough.
        return this.#ask(key, 'look', Math.min(20, this.#rules.schedule.periodMs / 20))
      case 'released':
        if (!isOwn) this.#plan.next(key)
        return
      // Whoever has made the change: `changed` tells.
      case 'invalidated':
      case 'expired':
    }
  }

  onStore(state: 'gone' | 'back'): void {
    for (const key of this.#listing.keys.values()) {
      if (key.place === 'crew' || key.place === 'work') continue
      if (this.#plan.isHeldUp(key)) this.#plan.strand(key)
      else if (state === 'back') this.#lookAgain(key)
    }
  }

  /** The store may have forgotten it. What is there still is not made again. */
  #lookAgain(key: Upkeep): void {
    const { now } = this.#plan
    const spreadMs = Math.min(this.#rules.schedule.periodMs / 2, 2_000)
    key.isStranded = false
    key.excusedUntil = Math.max(key.excusedUntil, now + spreadMs)
    key.asked ??= 'look'
    this.#plan.put(key, now + this.#random() * spreadMs)
  }

  #ask(key: Upkeep, asked: NonNullable<Upkeep['asked']>, spreadMs: number): void {
    const { now } = this.#plan
    if (key.place === 'work' || key.retryAt > now) return
    // What is kept nowhere would else be loaded for each request.
    if (now < key.aloneUntil && this.#making.isAlone(key)) return
    key.asked = asked
    // It is gone, and nobody has said so: each process makes it once in a period, where another can.
    const { periodMs } = this.#rules.schedule
    const isGone = asked === 'look' || asked.known === undefined
    const yields = isGone && key.isOwn && now < key.dueAt && this.#plan.isShared(key)
    const yieldMs = yields ? Math.min(mostYieldMs, periodMs / 20) : 0
    this.#plan.hasten(key, yieldMs + this.#random() * spreadMs)
  }

  #watchLater(): void {
    const { keys } = this.#listing
    const { periodMs } = this.#rules.schedule
    const ms = Math.max(50, keys.size / 20, Math.min(periodMs / 20, 5_000))
    this.#plan.at(this.#plan.now + ms, () => {
      this.#plan.followClock()
      for (const key of keys.values()) watch(this.#alerts, key)
      this.#watchLater()
    })
  }

  #corrected(byMs: number): void {
    const { periodMs } = this.#rules.schedule
    for (const key of this.#listing.all()) {
      correct(key, byMs, { now: this.#plan.now, periodMs })
      const isPlanned = typeof key.place === 'object' && !key.isAsked
      if (isPlanned && this.#listing.isListed(key)) this.#plan.next(key)
    }
  }

  #random(): number {
    return this.#hands.engine.clock.random()
  }
}
