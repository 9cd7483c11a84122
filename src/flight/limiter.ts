/**
 * How many loads run at once in this process, and how long one more may queue: losing the cache
 * must never hand its herd to the source. Who waits for a load goes before a refresh in the
 * background, for which a quarter of the places is out of reach; where callers never cease to wait,
 * it has one place in seventeen.
 *
 * A load that was given up at its deadline and still runs leaves its place, and is counted as
 * abandoned; as many abandoned as there were places at first, and nothing more is started until some
 * of them end (a hung source is not helped by more of the same).
 */
import type { Ended } from '../core/adaptive-limit.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Clock } from '../ports.ts'
import type { Rate } from './rate.ts'
import { Turns } from './turns.ts'

/** One place. Exactly one of the two ends it; further calls do nothing. */
export interface Place {
  leave(): void
  /**
   * The load goes on although nobody waits for it any more; `ended` settles when it does. After
   * `forgetMs` it counts as one that never ends, and no longer.
   */
  abandon(ended: Promise<unknown>, forgetMs: number): void
}

/** For a load that rides on its parent's place. */
export const noPlace: Place = { leave: () => {}, abandon: () => {} }

/** A turn in the queue. */
export interface Queued {
  readonly place: Promise<Place>
  /** Begins without a place of its own: one who holds a place waits for it. */
  ride(): void
  /** A caller waits for it: it is no longer in the background. */
  promote(): void
  cancel(reason: unknown): void
}

/** How many places there are; what is told of loads that have ended may change it. */
export interface Places {
  readonly limit: number
  ended(load: Ended): void
}

export function fixedPlaces(limit: number): Places {
  return { limit, ended: () => {} }
}

export interface LimiterOptions {
  readonly clock: Clock
  readonly queueMs: number
  readonly places: Places
  readonly rate: Rate | undefined
  /** There are more places than before, or fewer. */
  onLimit(limit: number): void
}

export interface Entering {
  readonly key: string
  /** When its time in the queue is over. */
  readonly until: number
  readonly isBackground: boolean
}

interface Turn {
  admit(place: Place): void
}

const shareOfBackground = 3 / 4
/** So many callers in a row: then one of the background, which would else never have its turn. */
const mostCallersBefore = 16

export class Limiter {
  readonly queueMs: number
  readonly #clock: Clock
  readonly #places: Places
  readonly #mostAbandoned: number
  readonly #rate: Rate | undefined
  readonly #onLimit: LimiterOptions['onLimit']
  readonly #callers = new Turns<Turn>()
  readonly #background = new Turns<Turn>()
  /** A timer for each abandoned load. */
  readonly #forgetting = new Set<() => void>()
  #running = 0
  #runningInBackground = 0
  #callersSince = 0
  #abandoned = 0

  constructor({ clock, queueMs, places, rate, onLimit }: LimiterOptions) {
    this.#clock = clock
    this.queueMs = queueMs
    this.#places = places
    // Not what is left of them later: a few loads that never end must not keep all others out.
    this.#mostAbandoned = places.limit
    this.#rate = rate
    this.#onLimit = onLimit
  }

  get running(): number {
    return this.#running
  }

  get queued(): number {
    return this.#callers.size + this.#background.size
  }

  /** Does nobody wait, and would one more leave a place for whoever comes next? */
  get isAtEase(): boolean {
    return this.queued === 0 && this.#running + 1 < this.limit
  }

  /** How many loads may run at once now. */
  get limit(): number {
    return this.#places.limit
  }

  get abandoned(): number {
    return this.#abandoned
  }

  /** A place where one is free, else a turn, which ends with `OVERLOADED` at the queue's deadline. */
  enter({ key, until, isBackground }: Entering): Place | Queued {
    if (this.#abandoned >= this.#mostAbandoned) {
      throw overloaded(key, `${this.#abandoned} abandoned loads are still running`)
    }
    const ahead = isBackground ? this.queued : this.#callers.size
    if (ahead === 0 && this.#hasRoom(isBackground) && this.#rate?.take() !== false) {
      return this.#take(isBackground)
    }
    const leftMs = until - this.#clock.now()
    const full = (): BreakwaterError => overloaded(key, `${this.#running} loads are running`)
    // Whether it may begin at once, where there is room, is only known when it was asked.
    const askMs =
      this.#rate !== undefined && this.#running + ahead < this.#places.limit
        ? this.#rate.answerMs
        : 0
    if (leftMs <= 0 && askMs === 0) throw full()
    const queued = this.#wait(key, Math.max(leftMs, askMs), isBackground)
    this.next()
    if (leftMs <= 0 && this.#rate?.isAsking !== true) queued.cancel(full())
    return queued
  }

  /** Whatever goes on, no timer does. */
  close(): void {
    for (const cancel of this.#forgetting) cancel()
    this.#forgetting.clear()
    this.#rate?.close()
  }

  /** For a load that is made inside another one. */
  ride(): Place {
    this.#rate?.spend()
    return noPlace
  }

  /** A load has ended that had begun then, or was given up. Told before its place is left. */
  ended(load: Omit<Ended, 'now' | 'running'>): void {
    const { limit } = this.#places
    this.#places.ended({ ...load, now: this.#clock.now(), running: this.#running })
    if (this.#places.limit === limit) return
    this.#onLimit(this.#places.limit)
    this.next()
  }

  /** Whoever may begin now begins: there are more places, or more may begin in this second. */
  next(): void {
    const now = this.#clock.now()
    for (;;) {
      const isOwed = this.#callersSince >= mostCallersBefore && this.#background.size > 0
      const isBackground = this.#callers.size === 0 || (isOwed && this.#hasRoom(true))
      const turn = (isBackground ? this.#background : this.#callers).next(now)
      if (turn === undefined) return this.#rate?.rest()
      if (!this.#hasRoom(isBackground)) return
      if (this.#rate?.take() === false) {
        // No more than can be used: what lies here nobody else has.
        return this.#rate.want(Math.min(this.queued, this.#places.limit - this.#running))
      }
      this.#callersSince = isBackground ? 0 : this.#callersSince + 1
      turn.admit(this.#take(isBackground))
    }
  }

  #hasRoom(isBackground: boolean): boolean {
    const { limit } = this.#places
    if (this.#running >= limit || this.#abandoned >= this.#mostAbandoned) return false
    if (!isBackground) return true
    return this.#runningInBackground < Math.max(1, Math.floor(limit * shareOfBackground))
  }

  #wait(key: string, ms: number, isBackground: boolean): Queued {
    const callers = this.#callers
    const background = this.#background
    let ride!: () => void
    let promote!: () => void
    let cancel!: (reason: unknown) => void
    const place = new Promise<Place>((resolve, reject) => {
      const late = (): void => {
        cancel(overloaded(key, `waited ${this.queueMs} ms behind ${this.#running} running loads`))
      }
      let stop = this.#clock.after(ms, late)
      const leave = (): boolean => {
        stop()
        return callers.remove(turn) || background.remove(turn)
      }
      const turn: Turn = {
        admit: (given) => {
          leave()
          resolve(given)
        },
      }
      ride = () => {
        if (leave()) resolve(this.ride())
      }
      promote = () => {
        if (!background.remove(turn)) return
        // Its first caller has just come.
        stop()
        stop = this.#clock.after(this.queueMs, late)
        callers.add(turn, this.#clock.now())
        this.next()
      }
      cancel = (reason) => {
        if (leave()) reject(reason)
      }
      ;(isBackground ? background : callers).add(turn, this.#clock.now())
    })
    return { place, ride, promote, cancel }
  }

  #take(isBackground: boolean): Place {
    this.#running++
    if (isBackground) this.#runningInBackground++
    let held = true
    const end = (): boolean => {
      if (!held) return false
      held = false
      this.#running--
      if (isBackground) this.#runningInBackground--
      return true
    }
    return {
      leave: () => {
        if (end()) this.next()
      },
      abandon: (ended, forgetMs) => {
        if (!end()) return
        this.#abandoned++
        let counts = true
        const over = (): void => {
          if (!counts) return
          counts = false
          forget()
          this.#forgetting.delete(forget)
          this.#abandoned--
          this.next()
        }
        const forget = this.#clock.after(forgetMs, over)
        this.#forgetting.add(forget)
        ended.then(over, over)
        this.next()
      },
    }
  }
}

function overloaded(key: string, why: string): BreakwaterError {
  return new BreakwaterError('OVERLOADED', `no load of ${key} was started: ${why}`, { key })
}
