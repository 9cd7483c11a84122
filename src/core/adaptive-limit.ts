/**
 * How many loads a source is given at once, learnt from how it copes: up while it answers as quickly
 * as it is used to and there is demand, down on timeouts, errors, and latency over twice what is
 * usual. What is usual is each definition's own, so that slow work beside quick work is no sign of
 * anything. No clock of its own: instants in ms are passed in.
 *
 * Additive increase and multiplicative decrease, as in TCP's congestion control (Jacobson, 1988);
 * the nearest of its kind is Netflix's concurrency-limits, after Vegas and Gradient.
 */
import { Usual } from './usual.ts'

export interface AdaptiveBounds {
  readonly initial: number
  readonly min: number
  readonly max: number
}

/** `answered`: with a value, or with an error that is an answer. */
export type Ending = 'answered' | 'failed' | 'timedOut'

/** One run of a loader that has ended, or was given up. */
export interface Ended {
  /** Whose: its definition. */
  readonly name: string
  readonly startedAt: number
  readonly now: number
  readonly how: Ending
  /** Loads at once when it ended, itself included. */
  readonly running: number
}

const decrease = 0.8

export class AdaptiveLimit {
  readonly #bounds: AdaptiveBounds
  readonly #usual = new Map<string, Usual>()
  #limit: number
  #shrunkAt = -Infinity

  constructor(bounds: AdaptiveBounds) {
    this.#bounds = bounds
    this.#limit = bounds.initial
  }

  get limit(): number {
    return Math.floor(this.#limit)
  }

  ended({ name, startedAt, now, how, running }: Ended): void {
    // Nothing of before a decrease says what it has done; and while nothing new begins, it is the
    // slow ones that are still there to end.
    if (startedAt < this.#shrunkAt) return
    let usual = this.#usual.get(name)
    if (usual === undefined) this.#usual.set(name, (usual = new Usual()))
    const isFull = running * 2 >= this.limit
    // At the least that it is given, and below that, its latency is the source's own.
    const mayBeOurs = isFull && this.limit > this.#bounds.min
    const isUnusual =
      how === 'answered' ? usual.answered(now - startedAt, now, mayBeOurs) : usual.failed(now)
    if (isUnusual || how === 'timedOut') this.#shrink(now)
    // A root of it more for each round of as many loads: quick where there is much room.
    else if (how === 'answered' && isFull) this.#set(this.#limit + 1 / Math.sqrt(this.#limit))
  }

  #shrink(now: number): void {
    this.#shrunkAt = now
    this.#set(this.#limit * decrease)
    for (const usual of this.#usual.values()) usual.startOver()
  }

  #set(limit: number): void {
    this.#limit = Math.min(this.#bounds.max, Math.max(this.#bounds.min, limit))
  }
}
