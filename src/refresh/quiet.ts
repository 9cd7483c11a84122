/** Who waits for a key asks again and again: it is passed on once, and not again for a while. */
const quietMs = 100
const mostRemembered = 10_000

export class Quiet {
  readonly #askedAt = new Map<string, number>()

  /** False: it was passed on a moment ago. */
  ends(key: string, now: number): boolean {
    const askedAt = this.#askedAt.get(key)
    if (askedAt !== undefined && now < askedAt + quietMs) return false
    if (this.#askedAt.size >= mostRemembered) this.#askedAt.clear()
    this.#askedAt.set(key, now)
    return true
  }

  forget(key: string): void {
    this.#askedAt.delete(key)
  }
}
