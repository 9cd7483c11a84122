/**
 * Loads anew what was expired, a few at a time and best effort: whatever is dropped here, the next
 * reader loads. A plain look-up, so that it is the cache's lease that decides who loads.
 */
import type { Changeable } from './actions.ts'

const atOnce = 8
const most = 10_000

export class Refresher {
  readonly #waiting = new Map<string, () => Promise<unknown>>()
  #running = 0
  #closed = false

  add(refreshes: ReadonlyMap<Changeable, ReadonlyMap<string, unknown>>): void {
    for (const [target, keys] of refreshes) {
      for (const [key, arg] of keys) {
        if (this.#waiting.size >= most) break
        this.#waiting.set(key, async () => target.lookup(arg as never))
      }
    }
    this.#go()
  }

  close(): void {
    this.#closed = true
    this.#waiting.clear()
  }

  #go(): void {
    for (const [key, load] of this.#waiting) {
      if (this.#closed || this.#running >= atOnce) return
      this.#waiting.delete(key)
      this.#running++
      void this.#one(load)
    }
  }

  async #one(load: () => Promise<unknown>): Promise<void> {
    try {
      await load()
    } catch {
      // The next reader loads, and is told.
    }
    this.#running--
    this.#go()
  }
}
