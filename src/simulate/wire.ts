/**
 * One connection of an imagined network, both ways. What goes over it arrives in the order in which
 * it was sent, after a while; it can stall (all is late), fall silent (nothing arrives any more, and
 * nobody is told) or be cut (what was under way may have arrived or not).
 */
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

export type Way = 'there' | 'back'

/** How slow the network is; changes with faults. */
export interface Weather {
  latencyMs: number
  jitterMs: number
  /** What is sent while this holds is late by up to so much. */
  lateMs: number
}

/** No two arrive at the same instant, so that an instant names what happened then. */
const gapMs = 0.001

export class Wire {
  /** Counts connections: what was sent over an earlier one is of no interest to this one. */
  connection = 0
  isSilent = false
  readonly #timeline: Timeline
  readonly #random: Random
  readonly #weather: Weather
  readonly #last: Record<Way, number> = { there: 0, back: 0 }

  constructor(timeline: Timeline, random: Random, weather: Weather) {
    this.#timeline = timeline
    this.#random = random
    this.#weather = weather
  }

  /** A new connection: nothing is under way on it. */
  renew(): void {
    this.connection++
    this.isSilent = false
    this.#last.there = this.#last.back = this.#timeline.now
  }

  /** Nothing arrives before then. */
  stall(way: Way, ms: number): void {
    this.#last[way] = Math.max(this.#last[way], this.#timeline.now + ms)
  }

  send(way: Way, arrive: () => void): void {
    if (this.isSilent) return
    const { latencyMs, jitterMs, lateMs } = this.#weather
    const random = this.#random
    const late = lateMs > 0 ? random.next() * lateMs : 0
    const at = this.#timeline.now + latencyMs + random.next() * jitterMs + late
    this.#last[way] = Math.max(this.#last[way] + gapMs, at)
    const { connection } = this
    this.#timeline.at(this.#last[way], () => {
      // What was already under way when it was cut, its receiver decides about.
      if (!this.isSilent || connection !== this.connection) arrive()
    })
  }
}
