/**
 * What one definition's loads are like: how long they take, and how often they fail. Averages over a
 * few loads are held against averages over time; single loads, of which some are always slow, say
 * nothing. No clock of its own: instants in ms are passed in.
 */
const fewLoads = 32
const usualMs = 30_000
/** While slowness may be of our own making it must not become what is usual so soon. */
const usualOfOursMs = 300_000
const usualFailureMs = 60_000
const tooSlow = 2
/** What the event loop's turns and a busy processor add to the quickest load: of them, a source knows nothing. */
const ownNoiseMs = 5
const tooManyFailures = 0.25

export class Usual {
  #recentMs = 0
  #usualMs = 0
  #loads = 0
  #firstAt = 0
  #isKnown = false
  #recentFailures = 0
  #usualFailures = 0
  #at = -Infinity

  /** True: it takes far longer than usual now. `mayBeOurs`: the source has as much to do as it is given. */
  answered(ms: number, now: number, mayBeOurs: boolean): boolean {
    const past = this.#ended(0, now)
    if (this.#loads++ === 0) this.#firstAt = now
    this.#recentMs += (ms - this.#recentMs) / Math.min(this.#loads, fewLoads)
    if (this.#isKnown) {
      const isSlower = this.#recentMs > this.#usualMs
      const over = mayBeOurs && isSlower ? usualOfOursMs : usualMs
      this.#usualMs += (this.#recentMs - this.#usualMs) * share(past, over)
      return this.#recentMs > Math.max(tooSlow * this.#usualMs, this.#usualMs + ownNoiseMs)
    }
    this.#usualMs += (ms - this.#usualMs) / this.#loads
    // Of loads that began together the quick ones are the first to end.
    this.#isKnown = this.#loads > fewLoads && now - this.#firstAt > 5 * this.#usualMs
    return false
  }

  /** True: it fails far more often than usual now. One that mostly fails says nothing of the source. */
  failed(now: number): boolean {
    this.#ended(1, now)
    return this.#recentFailures > this.#usualFailures + tooManyFailures
  }

  /** What was of late is over. */
  startOver(): void {
    this.#recentMs = this.#usualMs
    this.#recentFailures = this.#usualFailures
  }

  /** Gives how long ago the one before it ended. */
  #ended(failures: 0 | 1, now: number): number {
    const past = now - Math.max(this.#at, now - usualFailureMs)
    this.#at = now
    this.#recentFailures += (failures - this.#recentFailures) / fewLoads
    this.#usualFailures += (failures - this.#usualFailures) * share(past, usualFailureMs)
    return past
  }
}

/** Of an average over so long a time, what one that stands for `pastMs` makes of it. */
function share(pastMs: number, overMs: number): number {
  return 1 - Math.exp(-pastMs / overMs)
}
