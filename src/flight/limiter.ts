/**
 * How many loads run at once in this process, and how long one more may queue: losing the cache
 * must never hand its herd to the source. A load that was given up at its deadline and still runs
 * leaves its place, and is counted as abandoned; as many abandoned as places, and nothing more is
 * started until some of them end (a hung source is not helped by more of the same).
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Clock } from '../ports.ts'

/** One place. Exactly one of the two ends it; further calls do nothing. */
export interface Place {
  leave(): void
  /** The load goes on although nobody waits for it any more; `ended` settles when it does. */
  abandon(ended: Promise<unknown>): void
}

/** For a load that rides on its parent's place. */
export const noPlace: Place = { leave: () => {}, abandon: () => {} }

/** A turn in the queue. */
export interface Queued {
  readonly place: Promise<Place>
  /** Begins without a place of its own: one who holds a place waits for it. */
  ride(): void
  cancel(reason: unknown): void
}

export class Limiter {
  readonly #clock: Clock
  readonly #places: number
  readonly queueMs: number
  readonly #queue = new Set<(place: Place) => void>()
  #running = 0
  #abandoned = 0

  constructor(clock: Clock, places: number, queueMs: number) {
    this.#clock = clock
    this.#places = places
    this.queueMs = queueMs
  }

  get running(): number {
    return this.#running
  }

  get queued(): number {
    return this.#queue.size
  }

  get abandoned(): number {
    return this.#abandoned
  }

  /** A place where one is free, else a turn, which ends with `OVERLOADED` at the queue's deadline. */
  enter(key: string, until: number): Place | Queued {
    if (this.#abandoned >= this.#places) {
      throw overloaded(key, `${this.#abandoned} abandoned loads are still running`)
    }
    if (this.#running < this.#places && this.#queue.size === 0) return this.#take()
    const leftMs = until - this.#clock.now()
    if (leftMs <= 0) throw overloaded(key, `${this.#running} loads are running`)
    return this.#wait(key, leftMs)
  }

  #wait(key: string, ms: number): Queued {
    let ride!: () => void
    let cancel!: (reason: unknown) => void
    const place = new Promise<Place>((resolve, reject) => {
      const stop = this.#clock.after(ms, () => {
        cancel(overloaded(key, `waited ${this.queueMs} ms behind ${this.#running} running loads`))
      })
      const admit = (given: Place): void => {
        stop()
        this.#queue.delete(admit)
        resolve(given)
      }
      ride = () => admit(noPlace)
      cancel = (reason) => {
        stop()
        this.#queue.delete(admit)
        reject(reason)
      }
      this.#queue.add(admit)
    })
    return { place, ride, cancel }
  }

  #take(): Place {
    this.#running++
    let held = true
    const end = (): boolean => {
      if (!held) return false
      held = false
      this.#running--
      return true
    }
    return {
      leave: () => {
        if (end()) this.#next()
      },
      abandon: (ended) => {
        if (!end()) return
        this.#abandoned++
        const over = (): void => {
          this.#abandoned--
          this.#next()
        }
        ended.then(over, over)
        this.#next()
      },
    }
  }

  #next(): void {
    for (const admit of this.#queue) {
      if (this.#running >= this.#places || this.#abandoned >= this.#places) return
      admit(this.#take())
    }
  }
}

function overloaded(key: string, why: string): BreakwaterError {
  return new BreakwaterError('OVERLOADED', `no load of ${key} was started: ${why}`, { key })
}
