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

interface Queued {
  resolve(place: Place): void
  cancel(): void
}

export class Limiter {
  readonly #clock: Clock
  readonly #places: number
  readonly #queueMs: number
  readonly #queue = new Set<Queued>()
  #running = 0
  #abandoned = 0

  constructor(clock: Clock, places: number, queueMs: number) {
    this.#clock = clock
    this.#places = places
    this.#queueMs = queueMs
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

  /** A place, at once where one is free; else in turn. Rejects with `OVERLOADED` after the queue's deadline. */
  enter(key: string): Place | Promise<Place> {
    if (this.#abandoned >= this.#places) {
      throw overloaded(key, `${this.#abandoned} abandoned loads are still running`)
    }
    if (this.#running < this.#places && this.#queue.size === 0) return this.#take()
    if (this.#queueMs === 0) throw overloaded(key, `${this.#running} loads are running`)
    return new Promise((resolve, reject) => {
      const stop = this.#clock.after(this.#queueMs, () => {
        this.#queue.delete(entry)
        reject(overloaded(key, `waited ${this.#queueMs} ms behind ${this.#running} running loads`))
      })
      const entry: Queued = { resolve, cancel: stop }
      this.#queue.add(entry)
    })
  }

  #take(): Place {
    this.#running++
    let held = true
    const end = (): boolean => {
      if (!held) return false
      held = false
      this.#running--
      this.#next()
      return true
    }
    return {
      leave: () => void end(),
      abandon: (ended) => {
        if (!end()) return
        this.#abandoned++
        const over = (): void => {
          this.#abandoned--
          this.#next()
        }
        ended.then(over, over)
      },
    }
  }

  #next(): void {
    if (this.#running >= this.#places || this.#abandoned >= this.#places) return
    const first = this.#queue.values().next().value
    if (first === undefined) return
    this.#queue.delete(first)
    first.cancel()
    first.resolve(this.#take())
  }
}

function overloaded(key: string, why: string): BreakwaterError {
  return new BreakwaterError('OVERLOADED', `no load of ${key} was started: ${why}`, { key })
}

/** For a load that rides on its parent's place. */
export const noPlace: Place = { leave: () => {}, abandon: () => {} }
