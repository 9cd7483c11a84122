/**
 * Labels whose source may still give what is of before an invalidation, since it is read from
 * replicas that lag: what began to load before the source has settled is used no longer than until
 * then. Instants are the store's.
 */
import type { Label } from './labels.ts'

/** For what was loaded by a process that was deaf by then, and for a load that takes longer. */
const keptMs = 600_000
/** As in the store. Beyond that the oldest are forgotten: their sources have had the longest to settle. */
const most = 100_000

/** Of one label: what was loaded before the first of them is to be gone by then, whatever came later. */
const mostInstants = 8

export class Settling {
  readonly #instants = new Map<Label, readonly number[]>()

  get isEmpty(): boolean {
    return this.#instants.size === 0
  }

  add(labels: readonly Label[], until: number, now: number): void {
    for (const label of labels) {
      const before = this.#instants.get(label) ?? []
      const kept = before.filter((ended) => ended !== until && ended + keptMs > now)
      this.#instants.delete(label)
      this.#instants.set(label, [...kept.slice(1 - mostInstants), until])
    }
    for (const [label, instants] of this.#instants) {
      const isOver = instants.every((ended) => ended + keptMs <= now)
      if (!isOver && this.#instants.size <= most) break
      this.#instants.delete(label)
    }
  }

  /** How much longer the source of a label may lag; 0: not at all. */
  left(label: Label, now: number): number {
    return Math.max(0, Math.ceil(Math.max(...(this.#instants.get(label) ?? [0])) - now))
  }

  /** Until when what began to load at `startedAt` may be used; `Infinity`: nothing of it settles. */
  until(startedAt: number, labels: Iterable<Label>): number {
    let until = Infinity
    for (const label of labels) {
      for (const settled of this.#instants.get(label) ?? []) {
        if (startedAt < settled) until = Math.min(until, settled)
      }
    }
    return until
  }
}
