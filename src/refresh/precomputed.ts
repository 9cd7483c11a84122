/**
 * One definition whose values are made ahead, in this process: its keys, when each is due, and who is
 * asked for one. That only one process of all loads a key is the lease's work; that it is loaded once
 * per period is told by when the value that is there was stored.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import { usesStore, type Engine, type Target } from '../cache/engine.ts'
import type { Entry } from '../cache/entry.ts'
import { callbackFailed } from '../cache/failure.ts'
import { heldIn, isTrusted } from '../cache/keep.ts'
import { forbidsLoad, modeOf } from '../cache/modes.ts'
import type { PrecomputeRules } from '../cache/precompute-rules.ts'
import { refreshAhead } from '../cache/scheduled.ts'
import { shareOf } from '../core/schedule.ts'
import type { BusMessage } from '../ports.ts'
import type { Agenda } from './agenda.ts'
import { failed, isLate, resolve, watch, type AlertsOf } from './alerts.ts'
import { readArgs } from './args.ts'
import type { Crew } from './crew.ts'
import { fetchNewer } from './newer.ts'
import { Rounds } from './rounds.ts'
import { periodNow, retryMs, turnOf, type Upkeep } from './upkeep.ts'

export interface Hands {
  readonly engine: Engine
  readonly agenda: Agenda
  readonly crew: Crew
  /** What all tokens of this cache begin with. */
  readonly ownTokens: string
}

/** Between a change and the refresh that follows it by itself: changes often come in crowds. */
const settleMs = 50
/** Who has made a value in this period lets others make it once more, if that is needed. */
const mostYieldMs = 250

export class Precomputed {
  readonly definition: AheadDefinition
  readonly #rules: PrecomputeRules
  readonly #hands: Hands
  readonly #alerts: AlertsOf
  readonly #keys = new Map<string, Upkeep>()
  readonly #rounds: Rounds
  #offsetMs: number

  constructor(hands: Hands, definition: AheadDefinition) {
    this.definition = definition
    this.#hands = hands
    const { engine, agenda } = hands
    this.#rules = definition.source.rules.precompute!
    this.#alerts = { engine, rules: this.#rules.alerts }
    this.#rounds = new Rounds(engine, definition.source.name)
    this.#offsetMs = engine.hearing.offsetMs
    const { now } = engine.clock
    // In a turn of its own: the loader may use what the module defines further down.
    agenda.at(now(), () => void this.#begin())
    this.#watchLater()
  }

  get late(): readonly { name: string; key: string; expiresAt: number }[] {
    const { name } = this.definition.source
    return [...this.#keys.values()].filter(isLate).map(({ target, expiresAt, dueSince }) => {
      return { name, key: target.key, expiresAt: Math.round(expiresAt ?? dueSince ?? 0) }
    })
  }

  /** A request found nothing fresh, here or elsewhere (then `target` is ours, by its key). */
  ask(asked: Target | string): void {
    const isElsewhere = typeof asked === 'string'
    const known = this.#keys.get(isElsewhere ? asked : asked.key)
    if (known === undefined) {
      // Of an argument that is not in the list: once, and not by schedule.
      if (!isElsewhere) this.#start(this.#newKey(asked))
      return
    }
    const { crew, engine } = this.#hands
    const { place, isAsked } = known
    if (place === 'work' || (isAsked && place !== undefined)) return
    const now = this.#now()
    if (known.retryAt > now) return
    known.isAsked = true
    if (place === 'crew') return crew.hurry(known)
    const { begin } = periodNow(this.#rules.schedule, known, now)
    const hasMadeIt = known.isOwn && known.filledAt >= begin && this.#isShared(known)
    const { periodMs } = this.#rules.schedule
    // It is gone, and nobody has said so. Each process makes it at most once in a period where it can.
    const yieldMs = hasMadeIt ? Math.min(mostYieldMs, periodMs / 10) : 0
    const spreadMs = isElsewhere ? engine.clock.random() * Math.min(20, periodMs / 20) : 0
    if (yieldMs + spreadMs === 0) this.#start(known)
    else this.#plan(known, now + yieldMs + spreadMs)
  }

  heed(message: BusMessage): void {
    const { engine } = this.#hands
    if (message.type === 'bumped') {
      if (message.kind !== 'gone') return
      if (!message.labels.some((label) => this.definition.source.labels.includes(label))) return
      for (const key of this.#keys.values()) this.#changed(key)
      return
    }
    if (message.type === 'beat') return
    if (message.type === 'published') fetchNewer(engine, this.definition, message)
    const key = this.#keys.get(message.key)
    if (key === undefined) return
    switch (message.type) {
      case 'published':
      case 'written': {
        const token = message.type === 'published' ? message.token : message.id
        const now = this.#now()
        const expiresAt = now + this.definition.source.rules.ttlMs
        return this.#filled(key, { at: now, expiresAt, isOwn: this.#isOwn(token) })
      }
      case 'failed':
        if (this.#isOwn(message.token)) return
        key.retryAt = this.#now() + message.backoffMs
        failed(this.#alerts, key, new Error(message.error))
        return this.#planNext(key)
      case 'invalidated':
      case 'expired':
        return this.#changed(key)
      case 'wanted':
        return this.ask(message.key)
      case 'released':
        if (!this.#isOwn(message.token)) this.#planNext(key)
    }
  }

  /** The store is there again, and may have forgotten all of it. */
  recovered(): void {
    const { random } = this.#hands.engine.clock
    const { periodMs } = this.#rules.schedule
    for (const key of this.#keys.values()) {
      if (this.#isHeldUp(key))
        this.#plan(key, this.#now() + random() * Math.min(periodMs / 2, 2_000))
    }
  }

  // ── its keys ──────────────────────────────────────────────────────────────────────────────────

  async #begin(): Promise<void> {
    const { engine, agenda } = this.#hands
    const { schedule, args } = this.#rules
    const { begin, end } = schedule.periodAt(this.#now())
    const { random } = engine.clock
    const again = end + random() * Math.min(schedule.periodMs / 20, 5_000)
    const next = agenda.at(this.#local(again), () => void this.#begin())
    const seen = new Set<string>()
    try {
      await readArgs(engine, args, (arg) => {
        const target = this.#targetOf(arg)
        if (target === undefined) return
        seen.add(target.key)
        if (!this.#keys.has(target.key)) this.#add(target)
      })
    } catch (error) {
      if (engine.state !== 'open') return
      callbackFailed(
        engine,
        { name: this.definition.source.name, key: '' },
        'precompute.args',
        error,
      )
      // What there was before is kept, and it is tried again before the next period.
      next.run = undefined
      const retryAt = Math.min(again, this.#now() + Math.max(1_000, schedule.periodMs / 4))
      agenda.at(this.#local(retryAt), () => void this.#begin())
      return
    }
    for (const [name, key] of this.#keys) if (!seen.has(name)) this.#drop(name, key)
    this.#rounds.begin(begin, this.#keys.size)
  }

  #targetOf(arg: unknown): Target | undefined {
    try {
      return this.definition.targetOf(arg)
    } catch (error) {
      const { engine } = this.#hands
      callbackFailed(
        engine,
        { name: this.definition.source.name, key: '' },
        'precompute.args',
        error,
      )
      return undefined
    }
  }

  #add(target: Target): void {
    const key = this.#newKey(target)
    this.#keys.set(target.key, key)
    const { periodMs } = this.#rules.schedule
    const { random } = this.#hands.engine.clock
    // Processes that start together do not all begin with the same one.
    this.#plan(key, this.#now() + random() * Math.min(periodMs / 10, 500))
  }

  #newKey(target: Target): Upkeep {
    const key: Upkeep = {
      target,
      share: shareOf(target.key),
      isAsked: false,
      filledAt: -Infinity,
      expiresAt: undefined,
      isOwn: false,
      failures: 0,
      error: undefined,
      retryAt: -Infinity,
      changes: 0,
      dueSince: this.#now(),
      alerted: new Set(),
      place: undefined,
      isSpread: false,
      run: () => this.#refresh(key),
    }
    return key
  }

  #drop(name: string, key: Upkeep): void {
    this.#keys.delete(name)
    this.#leave(key)
  }

  // ── when ──────────────────────────────────────────────────────────────────────────────────────

  #planNext(key: Upkeep): void {
    const { clock } = this.#hands.engine
    const isAlone = !this.#isShared(key)
    const how = { now: this.#now(), isAlone, random: () => clock.random() }
    this.#plan(key, turnOf(this.#rules.schedule, key, how))
  }

  /** `at`: by the store's clock. */
  #plan(key: Upkeep, at: number): void {
    if (key.place === 'work' || this.#keys.get(key.target.key) !== key) return
    this.#leave(key)
    key.place = this.#hands.agenda.at(this.#local(at), () => {
      key.place = undefined
      this.#due(key, at)
    })
  }

  #leave(key: Upkeep): void {
    if (key.place === 'crew') this.#hands.crew.leave(key)
    else if (typeof key.place === 'object') key.place.run = undefined
    key.place = undefined
  }

  #due(key: Upkeep, at: number): void {
    const { engine } = this.#hands
    const { schedule } = this.#rules
    const now = this.#now()
    if (key.isAsked) return this.#start(key)
    if (key.filledAt >= periodNow(schedule, key, now).begin) return this.#planNext(key)
    const isLive = (key.expiresAt ?? 0) > now
    // The host has slept, or was busy: what is due by now does not begin all at once.
    if (now - at > schedule.periodMs / 4 && isLive && !key.isSpread) {
      key.isSpread = true
      const room = Math.min(schedule.periodMs / 4, (key.expiresAt! - now) / 2)
      return this.#plan(key, now + engine.clock.random() * room)
    }
    const later = this.#withoutStore(key, now)
    if (later !== undefined && later > now) return this.#plan(key, later)
    this.#start(key)
  }

  /**
   * When it is to be made although the store cannot be asked, by every process for itself: as late as
   * what this one holds allows, since most outages are short, and never what it does not hold.
   */
  #withoutStore(key: Upkeep, now: number): number | undefined {
    if (!this.#isHeldUp(key)) return undefined
    const { engine } = this.#hands
    const { schedule } = this.#rules
    const { target } = key
    const { begin, end } = periodNow(schedule, key, now)
    const held = heldIn(engine, target.source, target.key)
    const local = engine.clock.now()
    if (held === undefined || !isTrusted(engine, target.key, held, local)) return end
    const believedUntil = held.provisional === undefined ? engine.hearing.deafAt : Infinity
    const until = Math.min(held.freshUntil, believedUntil) + engine.hearing.offsetMs
    const leadMs = Math.min(schedule.periodMs / 4, Math.max(100, 2 * held.deltaMs))
    return Math.min(begin + schedule.periodMs, until - leadMs)
  }

  #start(key: Upkeep): void {
    const { engine, crew } = this.#hands
    if (engine.state !== 'open') return
    if (
      forbidsLoad(modeOf(engine, key.target.source), true) ||
      modeOf(engine, key.target.source) === 'bypass'
    ) {
      key.isAsked = false
      return this.#plan(key, periodNow(this.#rules.schedule, key, this.#now()).end)
    }
    this.#leave(key)
    key.place = 'crew'
    crew.enter(key)
  }

  // ── one refresh ───────────────────────────────────────────────────────────────────────────────

  async #refresh(key: Upkeep): Promise<void> {
    const { engine } = this.#hands
    const { schedule, alerts } = this.#rules
    const { target, isAsked, changes } = key
    key.place = 'work'
    const now = this.#now()
    const { begin } = periodNow(schedule, key, now)
    const { errorBackoffMs } = target.source.rules
    const backoffMs = retryMs(schedule, key, { now, errorBackoffMs, failures: alerts.failures })
    const isGoodEnough = (entry: Entry): boolean => {
      const local = engine.clock.now()
      if (entry.uncacheable !== undefined) return local < entry.freshUntil
      return isAsked ? local < entry.freshUntil : entry.storedAt + this.#offset() >= begin
    }
    const done = await refreshAhead(engine, target, { isGoodEnough, backoffMs })
    key.place = undefined
    key.isAsked = false
    key.isSpread = false
    if (engine.state !== 'open') return
    if (done.type === 'failed') this.#failed(key, done, backoffMs)
    else if (key.changes === changes) {
      const { entry } = done.type === 'found' ? done : done.answer
      const isOwn = done.type === 'answered' && done.answer.outcome === 'loaded'
      const offsetMs = this.#offset()
      const at = entry.storedAt + offsetMs
      this.#filled(key, { at, expiresAt: entry.freshUntil + offsetMs, isOwn: isOwn || key.isOwn })
    }
    this.#planNext(key)
  }

  #failed(
    key: Upkeep,
    { error, isOwn }: { readonly error: unknown; readonly isOwn: boolean },
    backoffMs: number,
  ): void {
    const { store, clock } = this.#hands.engine
    key.retryAt = this.#now() + backoffMs * (1 + clock.random() / 10)
    // Of a load elsewhere everyone was told by its message.
    if (!isOwn && store?.session.hasBus === true) return
    this.#rounds.failed()
    failed(this.#alerts, key, error)
  }

  #filled(
    key: Upkeep,
    by: { readonly at: number; readonly expiresAt: number; readonly isOwn: boolean },
  ): void {
    if (by.at < key.filledAt) return
    const isNew = by.at > key.filledAt
    key.filledAt = by.at
    key.expiresAt = by.expiresAt
    key.isOwn = by.isOwn
    const { begin } = periodNow(this.#rules.schedule, key, this.#now())
    if (by.at < begin) return
    resolve(this.#alerts, key)
    if (isNew && this.#keys.get(key.target.key) === key) this.#rounds.refreshed(key)
    if (typeof key.place === 'object') this.#planNext(key)
  }

  /** What there was of it is of no use any more: made anew before somebody asks. */
  #changed(key: Upkeep): void {
    key.filledAt = -Infinity
    key.expiresAt = undefined
    key.changes++
    if (key.place === 'work' || key.place === 'crew') return
    const { random } = this.#hands.engine.clock
    const at = Math.max(this.#now() + settleMs * (1 + random()), key.retryAt)
    this.#plan(key, at)
  }

  // ── watching ──────────────────────────────────────────────────────────────────────────────────

  #watchLater(): void {
    const { agenda, engine } = this.#hands
    const { schedule } = this.#rules
    const ms = Math.max(50, Math.min(schedule.periodMs / 20, 5_000))
    agenda.at(engine.clock.now() + ms, () => {
      const now = this.#now()
      const jumpedMs = Math.abs(this.#offset() - this.#offsetMs)
      this.#offsetMs = this.#offset()
      for (const key of this.#keys.values()) {
        watch(this.#alerts, key, { now, begin: periodNow(schedule, key, now).begin })
        // What was planned by a clock that has been corrected.
        if (jumpedMs > 500 && typeof key.place === 'object' && !key.isAsked) this.#planNext(key)
      }
      this.#watchLater()
    })
  }

  #isOwn(token: string): boolean {
    return token.startsWith(this.#hands.ownTokens)
  }

  /** Others may make it, too. */
  #isShared({ target }: Upkeep): boolean {
    return usesStore(this.#hands.engine, target.source.rules)
  }

  #isHeldUp({ target }: Upkeep): boolean {
    const { engine } = this.#hands
    return usesStore(engine, target.source.rules) && engine.store!.isDown(target.key)
  }

  #offset(): number {
    return this.#hands.engine.hearing.offsetMs
  }

  #now(): number {
    return this.#hands.engine.clock.now() + this.#offset()
  }

  #local(at: number): number {
    return at - this.#offset()
  }
}
