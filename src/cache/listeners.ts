/** The event stream. An event is made only while it has a listener; a listener that throws harms nobody. */
import type { CacheEvents } from '../core/events.ts'

type Listener = (event: never) => unknown

export class Listeners {
  readonly #byEvent = new Map<keyof CacheEvents, Set<Listener>>()
  /** Read on every hit, hence a plain field. */
  answer = false

  on<E extends keyof CacheEvents>(event: E, listener: (event: CacheEvents[E]) => void): () => void {
    let listeners = this.#byEvent.get(event)
    if (listeners === undefined) this.#byEvent.set(event, (listeners = new Set()))
    // One set entry per call: the same function registered twice is told twice, and removed singly.
    const own: Listener = (told) => listener(told)
    listeners.add(own)
    this.answer = this.has('answer')
    return () => {
      listeners.delete(own)
      this.answer = this.has('answer')
    }
  }

  has(event: keyof CacheEvents): boolean {
    return (this.#byEvent.get(event)?.size ?? 0) > 0
  }

  tell<E extends keyof CacheEvents>(event: E, make: () => CacheEvents[E]): void {
    const listeners = this.#byEvent.get(event)
    if (listeners === undefined || listeners.size === 0) return
    const told = make() as never
    for (const listener of listeners) {
      try {
        const result: unknown = listener(told)
        if (result instanceof Promise) result.catch(() => {})
      } catch {
        // A reporter's fault must not become a reader's: there is nobody to tell it to.
      }
    }
  }

  clear(): void {
    this.#byEvent.clear()
    this.answer = false
  }
}
