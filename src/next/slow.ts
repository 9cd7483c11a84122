/**
 * Keys whose render was waited for in vain: it takes too long, or fails and stores nothing. For a
 * while nobody waits for them again, so that not every visitor pays for the same disappointment.
 */

const mostKeys = 1_000

export class Slow {
  readonly #until = new Map<string, number>()

  add(key: string, forMs: number): void {
    this.#until.delete(key)
    this.#until.set(key, performance.now() + forMs)
    if (this.#until.size <= mostKeys) return
    const [oldest] = this.#until.keys()
    this.#until.delete(oldest!)
  }

  has(key: string): boolean {
    if (this.#until.size === 0) return false
    const until = this.#until.get(key)
    if (until === undefined) return false
    if (performance.now() < until) return true
    this.#until.delete(key)
    return false
  }

  delete(key: string): void {
    this.#until.delete(key)
  }
}
