/**
 * Invalidations that the store did not take. They were applied to this process at once and their
 * callers were told (`STORE_UNAVAILABLE`); here they wait, and are repeated before the store is
 * believed again. A write waits as an invalidation of its key, never as a value: a newer one may
 * have been written meanwhile.
 *
 * What was taken is remembered for a minute too: a server that took over from another may never
 * have heard of it.
 */
import type { Clock, StoreSession, Token } from '../ports.ts'

const rememberMs = 60_000
const most = 10_000

export class Outbox {
  readonly #clock: Clock
  readonly #newToken: () => Token
  readonly #waiting = new Map<string, 'invalidate' | 'expire'>()
  readonly #taken = new Map<string, number>()
  /** More was lost than is remembered here. */
  #overflowed = false

  constructor(clock: Clock, newToken: () => Token) {
    this.#clock = clock
    this.#newToken = newToken
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Whether some of what was lost could not even be remembered. */
  get overflowed(): boolean {
    return this.#overflowed
  }

  missed(keys: readonly string[], what: 'invalidate' | 'expire'): void {
    for (const key of keys) {
      if (this.#waiting.get(key) === 'invalidate') continue
      this.#waiting.set(key, what)
      if (this.#waiting.size <= most) continue
      this.#overflowed = true
      this.#waiting.delete(this.#waiting.keys().next().value!)
    }
  }

  taken(keys: readonly string[]): void {
    const now = this.#clock.now()
    for (const key of keys) {
      this.#waiting.delete(key)
      this.#taken.delete(key)
      this.#taken.set(key, now)
    }
    for (const [key, at] of this.#taken) {
      if (at > now - rememberMs && this.#taken.size <= most) break
      this.#taken.delete(key)
    }
  }

  /** What the last minute's invalidations were, as if the store had not taken them. */
  repeatRecent(): void {
    const since = this.#clock.now() - rememberMs
    const recent = [...this.#taken].filter(([, at]) => at > since).map(([key]) => key)
    this.missed(recent, 'invalidate')
  }

  /** Rejects when the store did not take them; the rest waits on. */
  async replay(
    send: (run: (session: StoreSession) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const batch = 500
    while (this.#waiting.size > 0) {
      const entries = [...this.#waiting].slice(0, batch)
      for (const what of ['invalidate', 'expire'] as const) {
        const keys = entries.filter(([, kind]) => kind === what).map(([key]) => key)
        if (keys.length === 0) continue
        await send((session) => session[what](keys, this.#newToken()))
        for (const key of keys) if (this.#waiting.get(key) === what) this.#waiting.delete(key)
      }
    }
    this.#overflowed = false
  }
}
