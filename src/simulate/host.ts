/**
 * The time of one imagined process: a clock that is off by minutes and drifts, timers that are a
 * little late, pauses after which everything that was due comes at once, and a crash after which
 * nothing comes any more. All that reaches the process goes through `deliver`.
 */
import type { Clock } from '../ports.ts'
import type { Random } from './random.ts'
import type { Timeline } from './timeline.ts'

type Kind = 'timer' | 'input'

export interface HostOptions {
  readonly timeline: Timeline
  readonly random: Random
  readonly skewMs: number
  /** Seconds gained in each second. */
  readonly drift: number
}

/** As late as a timer of Node is. */
const mostLateMs = 1

export class Host {
  readonly clock: Clock
  readonly #timeline: Timeline
  readonly #random: Random
  #state: 'running' | 'paused' | 'crashed' = 'running'
  #held: { readonly kind: Kind; readonly run: () => void }[] = []
  #pausedAt = 0
  #pausedMs = 0
  /** Timers that are set. */
  timers = 0

  constructor({ timeline, random, skewMs, drift }: HostOptions) {
    this.#timeline = timeline
    this.#random = random
    const bornAt = timeline.now
    const rate = 1 + drift
    const zero = epoch + skewMs
    this.clock = {
      now: () => zero + bornAt + (timeline.now - bornAt) * rate,
      random: () => random.next(),
      after: (ms, run) => this.#after(Math.max(0, ms) / rate, run),
    }
  }

  get isCrashed(): boolean {
    return this.#state === 'crashed'
  }

  get isPaused(): boolean {
    return this.#state === 'paused'
  }

  /** How long it has been paused so far: that much of its time nobody could use. */
  get pausedMs(): number {
    const now = this.#timeline.now
    return this.#pausedMs + (this.#state === 'paused' ? now - this.#pausedAt : 0)
  }

  deliver(kind: Kind, run: () => void): void {
    if (this.#state === 'running') run()
    else if (this.#state === 'paused') this.#held.push({ kind, run })
  }

  pause(): void {
    if (this.#state !== 'running') return
    this.#state = 'paused'
    this.#pausedAt = this.#timeline.now
  }

  /** The event loop may come to its timers first, or to what came in. */
  resume(): void {
    if (this.#state !== 'paused') return
    this.#pausedMs += this.#timeline.now - this.#pausedAt
    this.#state = 'running'
    const held = this.#held
    this.#held = []
    const first: Kind = this.#random.chance(0.5) ? 'timer' : 'input'
    const ordered = [
      ...held.filter(({ kind }) => kind === first),
      ...held.filter(({ kind }) => kind !== first),
    ]
    for (const { kind, run } of ordered) {
      this.#timeline.after(0, () => this.deliver(kind, run))
    }
  }

  crash(): void {
    this.#state = 'crashed'
    this.#held = []
  }

  #after(ms: number, run: () => void): () => void {
    let isSet = true
    this.timers++
    const end = (): boolean => {
      if (!isSet) return false
      isSet = false
      this.timers--
      return true
    }
    const cancel = this.#timeline.after(ms + this.#random.next() * mostLateMs, () => {
      this.deliver('timer', () => {
        // Cancelled while it was held back.
        if (end()) run()
      })
    })
    return () => {
      if (end()) cancel()
    }
  }
}

/** 1 January 2026: where virtual time begins. */
export const epoch = 1_767_225_600_000
