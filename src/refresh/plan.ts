/**
 * When the keys of one definition come to their turn in this process: planned in the agenda, and from
 * there to the crew. What has become due while nothing could be done (the host slept, the store was
 * gone) is planned anew, so that it does not all begin at once.
 */
import { usesStore, type Engine } from '../cache/engine.ts'
import { heldIn, isTrusted } from '../cache/keep.ts'
import { forbidsLoad, modeOf } from '../cache/modes.ts'
import type { Schedule } from '../core/schedule.ts'
import type { Agenda, Item } from './agenda.ts'
import type { Crew } from './crew.ts'
import { delayMs, type Upkeep } from './upkeep.ts'

export interface Hands {
  readonly engine: Engine
  readonly agenda: Agenda
  readonly crew: Crew
  /** What all tokens of this cache begin with. */
  readonly ownTokens: string
}

/** So long what is overdue waits for the store, where what is held lives so long. */
const patienceMs = 5_000
/** Less than this is how exactly the store's time is known. */
const leastCorrectionMs = 500

export class Plan {
  readonly #hands: Hands
  readonly #schedule: Schedule
  readonly #onCorrected: (byMs: number) => void
  /** By which clock all has been planned. */
  #offsetMs: number

  /** `onCorrected`: the store's clock, as it was known, has been moved. */
  constructor(hands: Hands, schedule: Schedule, onCorrected: (byMs: number) => void) {
    this.#hands = hands
    this.#schedule = schedule
    this.#onCorrected = onCorrected
    this.#offsetMs = hands.engine.hearing.offsetMs
  }

  /** The store's time. */
  get now(): number {
    const { hearing } = this.#hands.engine
    return hearing.storeNow
  }

  /** What was planned by a clock that has been corrected since is planned anew. */
  followClock(): void {
    const { offsetMs } = this.#hands.engine.hearing
    const byMs = offsetMs - this.#offsetMs
    if (Math.abs(byMs) <= leastCorrectionMs) return
    this.#offsetMs = offsetMs
    this.#onCorrected(byMs)
  }

  /** Once, at that time of the store. */
  at(at: number, run: () => void): Item {
    return this.#hands.agenda.at(at - this.#hands.engine.hearing.offsetMs, run)
  }

  /** For when it is due, unless it is at work. */
  next(key: Upkeep): void {
    const { clock } = this.#hands.engine
    const delay = this.isShared(key) ? delayMs(this.#schedule, key, clock.random()) : 0
    this.put(key, Math.max(key.dueAt + delay, key.retryAt, this.now))
  }

  put(key: Upkeep, at: number): void {
    if (key.place === 'work') return
    this.drop(key)
    const { engine, agenda } = this.#hands
    key.place = agenda.at(at - engine.hearing.offsetMs, () => {
      key.place = undefined
      this.followClock()
      this.#come(key, at)
    })
  }

  /** At once, or a little later, where that is sooner than it was to be. */
  hasten(key: Upkeep, waitMs: number): void {
    const { place } = key
    if (place === 'crew') return this.#hands.crew.hurry(key)
    if (typeof place === 'object' && place.at <= this.#hands.engine.clock.now() + waitMs) return
    if (waitMs === 0) this.start(key)
    else this.put(key, this.now + waitMs)
  }

  /** Now, as soon as there is room. */
  start(key: Upkeep): void {
    const { engine, crew } = this.#hands
    if (engine.state !== 'open' || key.place === 'work') return
    const mode = modeOf(engine, key.target.source)
    if (forbidsLoad(mode, true) || mode === 'bypass') {
      key.asked = undefined
      key.excusedUntil = this.now
      return this.put(key, this.now + this.#schedule.periodMs / 4)
    }
    this.drop(key)
    key.place = 'crew'
    crew.enter(key)
  }

  drop(key: Upkeep): void {
    if (key.place === 'crew') this.#hands.crew.leave(key)
    else if (typeof key.place === 'object') this.#hands.agenda.cross(key.place)
    if (key.place !== 'work') key.place = undefined
  }

  /** Others may make it, too. */
  isShared({ target }: Upkeep): boolean {
    return usesStore(this.#hands.engine, target.source.rules)
  }

  /** The store would have to be asked, and cannot be. */
  isHeldUp(key: Upkeep): boolean {
    return this.isShared(key) && this.#hands.engine.store!.isDown(key.target.key)
  }

  #come(key: Upkeep, planned: number): void {
    const { now } = this
    const isHeldUp = this.isHeldUp(key)
    if (key.isAsked || (key.isStranded && isHeldUp)) return this.start(key)
    if (now < key.dueAt) return this.next(key)
    const { periodMs } = this.#schedule
    const leftMs = (key.expiresAt ?? now) - now
    if (now - planned > periodMs / 4 && leftMs > 0 && !key.isSpread) {
      key.isSpread = true
      const roomMs = Math.min(periodMs / 4, leftMs / 2)
      return this.put(key, now + this.#hands.engine.clock.random() * roomMs)
    }
    if (isHeldUp) this.strand(key)
    else this.start(key)
  }

  /** The store is gone, or was when it was asked: this process is to make it for itself, in time. */
  strand(key: Upkeep): void {
    const { now } = this
    const latest = this.#latestAlone(key)
    key.isStranded = latest !== undefined
    if (latest === undefined) {
      key.excusedUntil = now + this.#schedule.periodMs
      return this.put(key, key.excusedUntil)
    }
    // Not all at the last moment, and not soon: most outages are short.
    const at = latest - (this.#hands.engine.clock.random() * (latest - now)) / 2
    key.excusedUntil = Math.max(now, latest)
    this.put(key, Math.max(now, at, key.retryAt))
  }

  /** By what this process holds of it. What it does not hold nobody asks it for. */
  #latestAlone(key: Upkeep): number | undefined {
    const { clock, hearing } = this.#hands.engine
    const { periodMs } = this.#schedule
    const { source, key: name } = key.target
    const held = heldIn(this.#hands.engine, source, name)
    if (held === undefined || !isTrusted(this.#hands.engine, name, held, clock.now())) {
      return undefined
    }
    const believedUntil = held.provisional === undefined ? hearing.deafAt : Infinity
    const until = Math.min(held.freshUntil, believedUntil) + hearing.offsetMs
    const leadMs = Math.min(periodMs / 4, Math.max(100, 2 * held.deltaMs))
    return Math.min(key.dueAt + Math.max(periodMs, patienceMs), until - leadMs)
  }
}
