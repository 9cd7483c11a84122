/**
 * When keys and tags were changed for the last time, on this process's clock: for those whose values
 * are verified. Bounded, and of this process's life: an older change is as none.
 */
import type { Label } from '../core/labels.ts'

/** What is heard of more keys or tags than these forgets the oldest. */
const mostRemembered = 10_000

export class LastChanges {
  readonly #at = new Map<string, number>()

  note(labels: readonly string[], now: number): void {
    for (const label of labels) {
      this.#at.delete(label)
      this.#at.set(label, now)
      if (this.#at.size > mostRemembered) this.#at.delete(this.#at.keys().next().value!)
    }
  }

  last(key: string, labels: readonly Label[], more: readonly Label[]): number {
    let last = this.#at.get(key) ?? -Infinity
    for (const label of labels) last = Math.max(last, this.#at.get(label) ?? -Infinity)
    for (const label of more) last = Math.max(last, this.#at.get(label) ?? -Infinity)
    return last
  }
}
