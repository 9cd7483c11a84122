/**
 * What this process has added lately, so that it can be added again: to an epoch whose builder may
 * have read its source before the record was there, and to a store that has lost its last writes.
 * Bounded; the oldest are forgotten first.
 */

/** A record that is committed later than this after its `add` may be missed by a rebuild. */
export const keepMs = 60_000
const most = 20_000

export class RecentAdds {
  /** Text → when, the oldest first. */
  readonly #added = new Map<string, number>()

  add(text: string, now: number): void {
    this.#added.delete(text)
    this.#added.set(text, now)
    for (const [oldest, at] of this.#added) {
      if (this.#added.size <= most && now - at <= keepMs) break
      this.#added.delete(oldest)
    }
  }

  has(text: string, now: number): boolean {
    const at = this.#added.get(text)
    return at !== undefined && now - at <= keepMs
  }

  /** Added after the one instant, and not after the other. */
  since(after: number, until = Infinity): string[] {
    const texts: string[] = []
    for (const [text, at] of this.#added) if (at > after && at <= until) texts.push(text)
    return texts
  }

  /** Nothing is kept that would still be needed. */
  forget(now: number): boolean {
    for (const [oldest, at] of this.#added) {
      if (now - at <= keepMs) return false
      this.#added.delete(oldest)
    }
    return true
  }
}
