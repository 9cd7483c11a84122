/**
 * What this process has added lately, so that it can be added again: to an epoch whose builder may
 * have read its source before the record was there, and to a store that has lost its last writes.
 * Bounded. Kept in two parts, of which the older is dropped as a whole: to take the oldest entry out
 * of a Map again and again is slow, since what was deleted is skipped one by one.
 */

/** A record that is committed later than this after its `add` may be missed by a rebuild. */
export const keepMs = 60_000
/** Of each part. */
const most = 10_000

type Part = Map<string, number>

export class RecentAdds {
  /** Text → when. */
  #part: Part = new Map()
  #before: Part = new Map()
  #startedAt = 0

  add(text: string, now: number): void {
    if (this.#part.size === 0) this.#startedAt = now
    if (this.#part.size >= most || now - this.#startedAt > keepMs) {
      this.#before = this.#part
      this.#part = new Map()
      this.#startedAt = now
    }
    this.#part.set(text, now)
  }

  has(text: string, now: number): boolean {
    if (this.#part.size === 0 && this.#before.size === 0) return false
    const at = this.#part.get(text) ?? this.#before.get(text)
    return at !== undefined && now - at <= keepMs
  }

  /** Added after the one instant, and not after the other. */
  since(after: number, until = Infinity): string[] {
    const texts: string[] = []
    for (const part of [this.#before, this.#part]) {
      for (const [text, at] of part) if (at > after && at <= until) texts.push(text)
    }
    return texts
  }

  /** Whether nothing is kept that would still be needed; then it keeps nothing. */
  forget(now: number): boolean {
    if (this.since(now - keepMs).length > 0) return false
    this.#part.clear()
    this.#before.clear()
    return true
  }
}
