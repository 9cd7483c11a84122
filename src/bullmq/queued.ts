/**
 * One definition in a process that loads for it: its keys, and what is heard of them. That each key
 * has its turn is the scheduler's work; what falls through is the lookout's.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import { callbackFailed } from '../cache/failure.ts'
import type { Refreshed } from '../cache/scheduled.ts'
import type { Label } from '../core/labels.ts'
import { dueAfter } from '../core/schedule.ts'
import type { EntryMessage } from '../ports.ts'
import type { Made } from '../refresh/ahead.ts'
import { failed, lateOf, resolve, watch, type AlertsOf } from '../refresh/alerts.ts'
import { readArgs } from '../refresh/args.ts'
import { fillOf, heardFill, type Fill } from '../refresh/fills.ts'
import { heard } from '../refresh/heard.ts'
import { Plan, type Hands } from '../refresh/plan.ts'
import { Rounds } from '../refresh/rounds.ts'
import { errorOf } from '../refresh/told-failure.ts'
import { correct, newUpkeep, reachedBy, takeFill, type Upkeep } from '../refresh/upkeep.ts'
import { rulesOf, type Asks } from './asks.ts'
import { Lookout } from './lookout.ts'

export class Queued implements Made {
  readonly definition: AheadDefinition
  readonly #hands: Hands
  readonly #asks: Asks
  readonly #alerts: AlertsOf
  readonly #rounds: Rounds
  /** For its clock alone. */
  readonly #time: Plan
  readonly #keys = new Map<string, Upkeep>()
  /** Makes it here, since the queue cannot be asked. */
  readonly #makeHere: (target: Target) => void
  readonly #lookout: Lookout

  constructor(
    hands: Hands,
    definition: AheadDefinition,
    how: { readonly asks: Asks; makeHere(target: Target): void },
  ) {
    this.definition = definition
    this.#hands = hands
    this.#asks = how.asks
    this.#makeHere = how.makeHere
    const { schedule, alerts } = rulesOf(definition)
    this.#time = new Plan(hands, schedule, (byMs) => {
      const { periodMs } = schedule
      for (const key of this.#keys.values()) correct(key, byMs, { now: this.now, periodMs })
    })
    this.#rounds = new Rounds(hands.engine, definition.source.name)
    this.#lookout = new Lookout({
      engine: hands.engine,
      definition,
      asks: how.asks,
      time: this.#time,
      isListed: (key) => this.#keys.get(key.target.key) === key,
      filled: (key, entry) => this.#filled(key, fillOf(hands.engine, entry)),
    })
    this.#alerts = { engine: hands.engine, rules: alerts, now: () => this.#time.now }
    // In a turn of its own: the loader may use what its module defines further down.
    this.#time.at(this.#time.now, () => void this.#begin())
    this.#tickLater()
  }

  get now(): number {
    return this.#time.now
  }

  get late(): Made['late'] {
    return lateOf(this.definition, this.#keys.values())
  }

  known(key: string): Upkeep | undefined {
    return this.#keys.get(key)
  }

  at(at: number, run: () => void): void {
    this.#time.at(at, run)
  }

  ask(target: Target): void {
    const known = this.#keys.get(target.key)
    if (known !== undefined && known.retryAt > this.now) return
    if (this.#time.isHeldUp(known ?? newUpkeep(target, 0, nothing))) return this.#makeHere(target)
    this.#asks.ask(this.definition, target, () => this.#makeHere(target))
  }

  heed(message: EntryMessage): void {
    const { id, isOwn } = heard(this.#hands, this.definition, message)
    const key = this.#keys.get(message.key)
    if (key === undefined) return
    const { engine } = this.#hands
    switch (message.type) {
      case 'published':
      case 'written':
        return this.#filled(key, heardFill(engine, key, id))
      case 'failed':
        if (isOwn) return
        key.retryAt = this.now + message.backoffMs
        return failed(this.#alerts, key, errorOf(engine, this.definition, message))
      case 'wanted':
        return this.ask(key.target)
      case 'released':
      case 'invalidated':
      case 'expired':
    }
  }

  changed(name: string): void {
    const key = this.#keys.get(name)
    if (key !== undefined) this.#changed(key)
  }

  changedByTag(labels: readonly Label[]): void {
    for (const key of reachedBy(labels, this.definition, this.#keys.values())) this.#changed(key)
  }

  onStore(state: 'gone' | 'back'): void {
    if (state === 'gone') return
    // It may have forgotten all of it.
    const { now } = this
    for (const key of this.#keys.values()) {
      key.excusedUntil = Math.max(key.excusedUntil, now + 2_000)
    }
    void this.#lookout.look([...this.#keys.values()])
  }

  /** What a job has come to here. Tells whether it is to be looked at once more: it was changed meanwhile. */
  came(target: Target, changes: number, result: Refreshed, backoffMs: number): 'ended' | 'changed' {
    const key = this.#keys.get(target.key)
    if (key === undefined || this.#hands.engine.state === 'closed') return 'ended'
    if (result.type === 'failed') {
      key.retryAt = this.now + backoffMs
      // Of a load elsewhere everyone was told by its message.
      const isTold = !result.isOwn && this.#hands.engine.store?.session.hasBus === true
      if (isTold) return 'ended'
      this.#rounds.failed()
      failed(this.#alerts, key, result.error)
      return 'ended'
    }
    if (key.changes !== changes) return 'changed'
    if (result.type === 'stranded') return 'ended'
    const { entry } = result.type === 'found' ? result : result.answer
    key.tags = entry.tags
    this.#filled(key, fillOf(this.#hands.engine, entry))
    return 'ended'
  }

  /** For what it is made now; tells of arguments that have no key. Rejects with what the function throws. */
  async list(): Promise<Target[]> {
    const targets = new Map<string, Target>()
    try {
      await readArgs(this.#hands.engine, rulesOf(this.definition).args, {
        take: (arg) => {
          try {
            const target = this.definition.targetOf(arg)
            targets.set(target.key, target)
          } catch (error) {
            this.#badArgs(error)
          }
        },
        isOver: () => this.#hands.engine.state !== 'open',
      })
    } catch (error) {
      if (this.#hands.engine.state === 'open') this.#badArgs(error)
      throw error
    }
    return [...targets.values()]
  }

  /** What is not in the list any more is forgotten; what is new is looked at. */
  take(targets: readonly Target[]): void {
    const { now } = this
    const listed = new Set<string>()
    const added: Upkeep[] = []
    for (const target of targets) {
      listed.add(target.key)
      if (this.#keys.has(target.key)) continue
      const key = newUpkeep(target, now, nothing)
      this.#keys.set(target.key, key)
      added.push(key)
    }
    for (const name of this.#keys.keys()) if (!listed.has(name)) this.#keys.delete(name)
    this.#rounds.begin(rulesOf(this.definition).schedule.periodAt(now).begin, this.#keys.size)
    if (added.length > 0) void this.#lookout.look(added)
  }

  /** Reads for what it is to be made, anew each period. */
  async #begin(): Promise<void> {
    const { schedule } = rulesOf(this.definition)
    const { periodMs } = schedule
    const spread = this.#random() * Math.min(periodMs / 20, 5_000)
    try {
      this.take(await this.list())
      this.#time.at(schedule.periodAt(this.now).end + spread, () => void this.#begin())
    } catch {
      this.#time.at(this.now + Math.max(1_000, periodMs / 4), () => void this.#begin())
    }
  }

  #badArgs(error: unknown): void {
    const { name } = this.definition.source
    callbackFailed(this.#hands.engine, { name, key: '' }, 'precompute.args', error)
  }

  #filled(key: Upkeep, fill: Fill): void {
    const { schedule } = rulesOf(this.definition)
    const dueAt = dueAfter(schedule, key.share, fill)
    const isNew = takeFill(key, dueAt, fill)
    if (isNew === undefined || dueAt <= this.now) return
    resolve(this.#alerts, key)
    if (isNew && this.#keys.get(key.target.key) === key) this.#rounds.refreshed(key)
  }

  /** What there was of it is of no use any more: made anew before somebody asks. */
  #changed(key: Upkeep): void {
    key.dueAt = this.now
    key.expiresAt = undefined
    key.changes++
    this.#lookout.changed(key)
  }

  #tickLater(): void {
    const { periodMs } = rulesOf(this.definition).schedule
    this.#time.at(this.now + Math.max(50, Math.min(periodMs / 20, 5_000)), () => {
      const { isHeld } = this.#lookout
      for (const key of this.#keys.values()) {
        if (isHeld) key.excusedUntil = this.now
        watch(this.#alerts, key)
      }
      if (!isHeld) this.#lookout.overdue(this.#keys.values())
      this.#tickLater()
    })
  }

  #random(): number {
    return this.#hands.engine.clock.random()
  }
}

async function nothing(): Promise<void> {}
