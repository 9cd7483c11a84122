/**
 * Labels whose source may still give what is of before an invalidation, since it is read from
 * replicas that lag: what began to load before the source has settled is used no longer than until
 * then. Instants are the store's.
 */
import type { Label } from './labels.ts'

/** For what was loaded by a process that was deaf by then, and comes to light later. */
const keptMs = 10_000
/** As in the store. Beyond that the oldest are forgotten: their sources have had the longest to settle. */
const most = 100_000

export class Settling {
  readonly #until = new Map<Label, number>()

  get isEmpty(): boolean {
    return this.#until.size === 0
  }

  add(labels: readonly Label[], until: number, now: number): void {
    for (const label of labels) {
      const before = this.#until.get(label) ?? 0
      this.#until.delete(label)
      this.#until.set(label, Math.max(before, until))
    }
    for (const [label, ended] of this.#until) {
      if (ended + keptMs > now && this.#until.size <= most) break
      this.#until.delete(label)
    }
  }

  /** Until when what began to load at `startedAt` may be used; `Infinity`: nothing of it settles. */
  until(startedAt: number, labels: Iterable<Label>): number {
    let until = Infinity
    for (const label of labels) {
      const settled = this.#until.get(label)
      if (settled !== undefined && startedAt < settled) until = Math.min(until, settled)
    }
    return until
  }
}
