/**
 * Keys whose last load failed, and until when this process does not try again. Bounded: the oldest
 * are forgotten first, which costs one attempt more.
 */
export interface Cooldown {
  readonly until: number
  /** Count of changes by tag when that load began: one since then ends the cooldown. */
  readonly tick: number
  readonly error: unknown
  /** There was a stale value to serve meanwhile: without one, a load is tried all the same. */
  readonly covered: boolean
}

const most = 10_000

export class Cooldowns {
  readonly #byKey = new Map<string, Cooldown>()

  get(key: string, now: number): Cooldown | undefined {
    const found = this.#byKey.get(key)
    if (found === undefined || now < found.until) return found
    this.#byKey.delete(key)
    return undefined
  }

  set(key: string, cooldown: Cooldown): void {
    this.#byKey.delete(key)
    this.#byKey.set(key, cooldown)
    if (this.#byKey.size > most) this.#byKey.delete(this.#byKey.keys().next().value!)
  }

  delete(key: string): void {
    this.#byKey.delete(key)
  }
}
