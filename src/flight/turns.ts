/**
 * Those who wait, in order: the oldest first as long as the queue empties now and then. One that has
 * stood for 100 ms is overload, and then the newest goes first: whoever came last has a caller who
 * still waits, and the oldest would be served just before they give up, all of them (adaptive LIFO:
 * Maurer, Fail at Scale, ACM Queue 13:8, 2015; the interval is CoDel's, Nichols and Jacobson, 2012).
 */
const standingMs = 100

interface Link<T> {
  readonly turn: T
  older: Link<T> | undefined
  newer: Link<T> | undefined
}

export class Turns<T> {
  readonly #links = new Map<T, Link<T>>()
  #oldest: Link<T> | undefined
  #newest: Link<T> | undefined
  #since = 0

  get size(): number {
    return this.#links.size
  }

  add(turn: T, now: number): void {
    if (this.size === 0) this.#since = now
    const link: Link<T> = { turn, older: this.#newest, newer: undefined }
    if (this.#newest === undefined) this.#oldest = link
    else this.#newest.newer = link
    this.#newest = link
    this.#links.set(turn, link)
  }

  /** False: it has had its turn, or has left. */
  remove(turn: T): boolean {
    const link = this.#links.get(turn)
    if (link === undefined) return false
    this.#links.delete(turn)
    const { older, newer } = link
    if (older === undefined) this.#oldest = newer
    else older.newer = newer
    if (newer === undefined) this.#newest = older
    else newer.older = older
    return true
  }

  /** Whose turn it is. It stays until it is removed. */
  next(now: number): T | undefined {
    return (now - this.#since > standingMs ? this.#newest : this.#oldest)?.turn
  }
}
