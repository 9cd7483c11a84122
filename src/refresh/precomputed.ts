/**
 * One definition whose values are made ahead, in this process: its keys, and what it learns of them.
 * That one process of all loads a key is the lease's work; that it is loaded once per period is told
 * by when the value that is there was loaded.
 */
import type { AheadDefinition, Found } from '../cache/ahead.ts'
import type { Companion } from '../cache/companions.ts'
import type { Target } from '../cache/engine.ts'
import type { Entry } from '../cache/entry.ts'
import { callbackFailed } from '../cache/failure.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { PrecomputeRules } from '../cache/precompute-rules.ts'
import { refreshAhead } from '../cache/scheduled.ts'
import type { Label } from '../core/labels.ts'
import { dueAfter } from '../core/schedule.ts'
import type { BusMessage } from '../ports.ts'
import { failed, isLate, resolve, watch, type AlertsOf } from './alerts.ts'
import { readArgs } from './args.ts'
import { fetchNewer } from './newer.ts'
import { Plan, type Hands } from './plan.ts'
import { Rounds } from './rounds.ts'
import { errorOf, toldFailure } from './told-failure.ts'
import { correct, newUpkeep, reachedBy, retryMs, type Upkeep } from './upkeep.ts'

/** Between a change and the refresh that follows it by itself: changes often come in crowds. */
const settleMs = 50
/** Who has made a value in this period lets others make it once more, if that is needed. */
const mostYieldMs = 250
/** There was no room for its load in this process: nobody asks for one again before. */
const overloadMs = 1_000
/** Asked for and not in the list, at a time: of more, requests have to come again. */
const mostGuests = 1_000

interface Filled {
  readonly startedAt: number
  readonly storedAt: number
  readonly expiresAt: number
  readonly isOwn: boolean
}

export class Precomputed {
  readonly #definition: AheadDefinition
  readonly #rules: PrecomputeRules
  readonly #hands: Hands
  readonly #alerts: AlertsOf
  readonly #plan: Plan
  readonly #rounds: Rounds
  readonly #keys = new Map<string, Upkeep>()
  readonly #guests = new Map<string, Upkeep>()
  /** Of the arguments, begun so far: the last one counts. */
  #readings = 0

  constructor(hands: Hands, definition: AheadDefinition) {
    const { engine } = hands
    const { source } = definition
    this.#hands = hands
    this.#definition = definition
    this.#rules = source.rules.precompute!
    this.#plan = new Plan(hands, this.#rules.schedule, (byMs) => this.#corrected(byMs))
    this.#rounds = new Rounds(engine, source.name)
    this.#alerts = { engine, rules: this.#rules.alerts, now: () => this.#plan.now }
    // In a turn of its own: the loader may use what its module defines further down.
    this.#plan.at(this.#plan.now, () => void this.#begin())
    this.#watchLater()
  }

  get late(): NonNullable<ReturnType<NonNullable<Companion['health']>>['late']> {
    const { name } = this.#definition.source
    const late = []
    // Of many, and asked by every probe: most are not.
    for (const key of this.#keys.values()) {
      if (key.alerted.size === 0 || !isLate(key)) continue
      const { target, expiresAt, dueAt } = key
      late.push({ name, key: target.key, expiresAt: Math.round(expiresAt ?? dueAt) })
    }
    return late
  }

  /** A request found nothing fresh: here (then whatever its argument), or elsewhere. */
  ask(target: Target, found: Found): void {
    const key = this.#keys.get(target.key) ?? this.#guest(target)
    if (key !== undefined) this.#ask(key, found, 0)
  }

  changed(name: string): void {
    const key = this.#keys.get(name)
    if (key !== undefined) this.#changed(key)
  }

  changedByTag(labels: readonly Label[]): void {
    for (const key of reachedBy(labels, this.#definition, this.#keys.values())) this.#changed(key)
  }

  heed(message: BusMessage): void {
    const { engine } = this.#hands
    const { source } = this.#definition
    if (message.type === 'beat' || message.type === 'bumped') return
    if (message.type === 'published') fetchNewer(engine, this.#definition, message)
    if (message.type === 'failed' && !this.#isOwn(message.token)) {
      toldFailure(engine, this.#definition, message)
    }
    const key = this.#keys.get(message.key)
    if (key === undefined) return
    const { now } = this.#plan
    switch (message.type) {
      case 'published':
      case 'written': {
        const stamp = message.type === 'published' ? message.token : message.id
        const held = engine.memory?.get(message.key)
        const isOwn = this.#isOwn(stamp)
        if (held?.stamp === stamp) return this.#filled(key, this.#filledBy(held, isOwn))
        const expiresAt = now + source.rules.ttlMs
        // When it began is not told: when it was due, most likely.
        const dueAt = Math.max(key.dueAt, now - this.#rules.schedule.periodMs)
        return this.#filled(key, {
          startedAt: Math.min(now, dueAt),
          storedAt: now,
          expiresAt,
          isOwn,
        })
      }
      case 'failed':
        if (this.#isOwn(message.token)) return
        key.retryAt = now + message.backoffMs
        failed(this.#alerts, key, errorOf(engine, this.#definition, message))
        return this.#plan.next(key)
      case 'wanted':
        // Many hear it, and one is enough.
        return this.#ask(key, 'look', Math.min(20, this.#rules.schedule.periodMs / 20))
      case 'released':
        if (!this.#isOwn(message.token)) this.#plan.next(key)
    }
  }

  onStore(state: 'gone' | 'back'): void {
    for (const key of this.#keys.values()) {
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

  /** Reads for what it is to be made, anew each period. */
  async #begin(): Promise<void> {
    const { engine } = this.#hands
    const { schedule, args } = this.#rules
    const { begin, end } = schedule.periodAt(this.#plan.now)
    const again = end + this.#random() * Math.min(schedule.periodMs / 20, 5_000)
    const next = this.#plan.at(again, () => void this.#begin())
    const seen = new Set<string>()
    const reading = ++this.#readings
    const isOver = (): boolean => engine.state !== 'open' || reading !== this.#readings
    try {
      await readArgs(engine, args, {
        take: (arg) => {
          const target = this.#targetOf(arg)
          if (target === undefined) return
          seen.add(target.key)
          if (!this.#keys.has(target.key)) this.#add(target)
        },
        isOver,
      })
    } catch (error) {
      if (isOver()) return
      this.#badArgs(error)
      // What there was before is kept, and it is asked again before the next period.
      this.#hands.agenda.cross(next)
      const retryAt = this.#plan.now + Math.max(1_000, schedule.periodMs / 4)
      this.#plan.at(Math.min(again, retryAt), () => void this.#begin())
      return
    }
    // One that was overtaken knows less than the one that followed.
    if (isOver()) return
    for (const [name, key] of this.#keys) {
      if (seen.has(name)) continue
      this.#keys.delete(name)
      this.#plan.drop(key)
    }
    this.#rounds.begin(begin, this.#keys.size)
  }

  #targetOf(arg: unknown): Target | undefined {
    try {
      return this.#definition.targetOf(arg)
    } catch (error) {
      this.#badArgs(error)
      return undefined
    }
  }

  #badArgs(error: unknown): void {
    const { name } = this.#definition.source
    callbackFailed(this.#hands.engine, { name, key: '' }, 'precompute.args', error)
  }

  /** One that is not in the list: made when it is asked for, and not by schedule. */
  #guest(target: Target): Upkeep | undefined {
    const known = this.#guests.get(target.key)
    if (known !== undefined || this.#guests.size >= mostGuests) return known
    const guest = newUpkeep(target, this.#plan.now, this.#refresh)
    this.#guests.set(target.key, guest)
    return guest
  }

  #add(target: Target): void {
    const { now } = this.#plan
    const guest = this.#guests.get(target.key)
    const key = guest ?? newUpkeep(target, now, this.#refresh)
    this.#guests.delete(target.key)
    this.#keys.set(target.key, key)
    // One that has failed as a guest waits for nothing but to be forgotten.
    if (guest !== undefined) return guest.place === undefined ? this.#plan.next(guest) : undefined
    // Processes that start together do not all begin with the same one.
    this.#plan.put(key, now + this.#random() * Math.min(this.#rules.schedule.periodMs / 10, 500))
  }

  #ask(key: Upkeep, asked: NonNullable<Upkeep['asked']>, spreadMs: number): void {
    const { now } = this.#plan
    if (key.place === 'work' || key.retryAt > now) return
    // What is kept nowhere would else be loaded for each request.
    if (now < key.aloneUntil && this.#isAlone(key)) return
    key.asked = asked
    // It is gone, and nobody has said so: each process makes it once in a period, where another can.
    const { periodMs } = this.#rules.schedule
    const isGone = asked === 'look' || asked.known === undefined
    const yields = isGone && key.isOwn && now < key.dueAt && this.#plan.isShared(key)
    const yieldMs = yields ? Math.min(mostYieldMs, periodMs / 10) : 0
    this.#plan.hasten(key, yieldMs + this.#random() * spreadMs)
  }

  readonly #refresh = async (key: Upkeep): Promise<void> => {
    const { engine } = this.#hands
    const { schedule, alerts } = this.#rules
    const { target, asked, changes } = key
    const run = ++key.runs
    key.place = 'work'
    const { now } = this.#plan
    const { errorBackoffMs } = target.source.rules
    const backoffMs = retryMs(schedule, key, { now, errorBackoffMs, failures: alerts.failures })
    const found = typeof asked === 'object' ? asked : undefined
    const isGoodEnough = (entry: Entry): boolean => {
      // What is still believed of before the outage will soon not be.
      if (key.isStranded && entry.provisional === undefined) return false
      const isFresh = engine.clock.now() < entry.freshUntil
      if (found !== undefined) return isFresh && entry.startedAt >= found.since
      if (entry.uncacheable !== undefined || asked !== undefined) return isFresh
      return dueAfter(schedule, key.share, this.#filledBy(entry, false)) > now
    }
    const how = { isGoodEnough, backoffMs, mayGoAlone: key.isStranded || found !== undefined }
    const done = await refreshAhead(engine, target, { ...how, found })
    // A change has overtaken it, and another has begun since.
    if (run !== key.runs) return void key.overtaken--
    key.place = undefined
    key.asked = undefined
    key.isSpread = false
    if (engine.state !== 'open') return
    if (done.type === 'stranded') {
      if (this.#isListed(key)) this.#plan.strand(key)
      else this.#guests.delete(target.key)
      return
    }
    key.isStranded = false
    if (done.type === 'failed') this.#failed(key, done, backoffMs)
    else if (key.changes === changes) {
      const { entry } = done.type === 'found' ? done : done.answer
      const isOwn = done.type === 'answered' && done.answer.outcome === 'loaded'
      key.tags = entry.tags
      const by = this.#filledBy(entry, isOwn || (done.type === 'found' && key.isOwn))
      this.#filled(key, by)
      if (isOwn && this.#isAlone(key)) key.aloneUntil = dueAfter(schedule, key.share, by)
    }
    if (!this.#isListed(key)) this.#leave(key)
    // What was loaded is of before the change, and is of no use.
    else if (key.changes !== changes) this.#soon(key)
    else if (done.type === 'failed' && isOverload(done.error)) {
      // Whoever waits for it may ask before; all others of its kind would have no room either.
      this.#plan.put(key, this.#plan.now + backoffMs * (1 + this.#random() / 10))
    } else this.#plan.next(key)
  }

  /** A guest goes when it is done; after a failure, when it may be tried again. */
  #leave(guest: Upkeep): void {
    const { key } = guest.target
    const goes = (): void => {
      if (this.#guests.get(key) === guest && guest.place === undefined) this.#guests.delete(key)
    }
    const until = Math.max(guest.retryAt, this.#isAlone(guest) ? guest.aloneUntil : -Infinity)
    if (until > this.#plan.now) this.#plan.at(until, goes)
    else goes()
  }

  /** The store is gone, and no change of the key waits for it there. */
  #isAlone(key: Upkeep): boolean {
    return this.#plan.isHeldUp(key) && this.#hands.engine.outbox.waits(key.target.key) === undefined
  }

  #isListed(key: Upkeep): boolean {
    return this.#keys.get(key.target.key) === key
  }

  #failed(
    key: Upkeep,
    { error, isOwn }: { readonly error: unknown; readonly isOwn: boolean },
    backoffMs: number,
  ): void {
    const isOverloaded = isOverload(error)
    const waitMs = isOverloaded ? Math.min(backoffMs, overloadMs) : backoffMs
    key.retryAt = this.#plan.now + waitMs * (1 + this.#random() / 10)
    // That says nothing of the source.
    if (isOverloaded) return
    // Of a load elsewhere everyone was told by its message.
    if (!isOwn && this.#hands.engine.store?.session.hasBus === true) return
    this.#rounds.failed()
    failed(this.#alerts, key, error)
  }

  #filled(key: Upkeep, by: Filled): void {
    const { schedule } = this.#rules
    const dueAt = dueAfter(schedule, key.share, by)
    if (dueAt < key.dueAt) return
    const isNew = dueAt > key.dueAt
    key.dueAt = dueAt
    key.expiresAt = by.expiresAt
    key.isOwn = by.isOwn
    if (dueAt <= this.#plan.now) return
    resolve(this.#alerts, key)
    if (isNew && this.#isListed(key)) this.#rounds.refreshed(key)
    if (typeof key.place === 'object' && !key.isAsked) this.#plan.next(key)
  }

  #filledBy(entry: Entry, isOwn: boolean): Filled {
    const { offsetMs } = this.#hands.engine.hearing
    return {
      startedAt: entry.startedAt + offsetMs,
      storedAt: entry.storedAt + offsetMs,
      expiresAt: entry.freshUntil + offsetMs,
      isOwn,
    }
  }

  /** What there was of it is of no use any more: made anew before somebody asks. */
  #changed(key: Upkeep): void {
    const { now } = this.#plan
    key.dueAt = now
    key.expiresAt = undefined
    key.aloneUntil = -Infinity
    key.changes++
    if (key.place === 'work' && key.overtaken === 0) {
      // What is loaded now is of before. It ends by itself, and nobody waits for that.
      key.overtaken++
      key.runs++
      key.place = undefined
    }
    if (key.place !== 'work' && key.place !== 'crew') this.#soon(key)
  }

  #soon(key: Upkeep): void {
    // What is there may be of this period, and have been made stale.
    key.asked ??= 'look'
    const settledAt = this.#plan.now + settleMs * (1 + this.#random())
    this.#plan.put(key, Math.max(settledAt, key.retryAt))
  }

  #watchLater(): void {
    const { periodMs } = this.#rules.schedule
    const ms = Math.max(50, this.#keys.size / 20, Math.min(periodMs / 20, 5_000))
    this.#plan.at(this.#plan.now + ms, () => {
      this.#plan.followClock()
      for (const key of this.#keys.values()) watch(this.#alerts, key)
      this.#watchLater()
    })
  }

  #corrected(byMs: number): void {
    const excusedUntil = byMs > 0 ? this.#plan.now + this.#rules.schedule.periodMs / 4 : -Infinity
    for (const guest of this.#guests.values()) correct(guest, byMs, excusedUntil)
    for (const key of this.#keys.values()) {
      correct(key, byMs, excusedUntil)
      if (typeof key.place === 'object' && !key.isAsked) this.#plan.next(key)
    }
  }

  #isOwn(token: string): boolean {
    return token.startsWith(this.#hands.ownTokens)
  }

  #random(): number {
    return this.#hands.engine.clock.random()
  }
}

/** This process had no room for the load. */
function isOverload(error: unknown): boolean {
  return error instanceof BreakwaterError && error.code === 'OVERLOADED'
}
