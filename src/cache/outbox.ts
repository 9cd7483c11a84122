/**
 * Invalidations that the store did not take. They were applied to this process at once and their
 * callers were told (`STORE_UNAVAILABLE`); here they wait, and are repeated until they are taken.
 * Until then the store is not asked about their keys: it still holds what was invalidated. A write
 * waits as an invalidation of its key, never as a value: a newer one may have been written since.
 *
 * What was taken is remembered for a minute too: a server that took over from another may never
 * have heard of it.
 */
import type { Clock, StoreSession, Token } from '../ports.ts'

const rememberMs = 60_000
const most = 100_000
const batchSize = 500
const retryMs = { first: 100, most: 1_000 }

type Change = 'invalidate' | 'expire'
/** One per miss, compared by identity: what is missed during its own replay waits on. */
interface Missed {
  readonly what: Change
}

export interface OutboxOptions {
  readonly clock: Clock
  newToken(): Token
  /** Is the store there? While it is not, nothing is sent: its recovery drains what waits. */
  isUp(): boolean
  /** Sends to the store, under its deadline; rejects when it was not taken. */
  send(run: (session: StoreSession) => Promise<void>): Promise<void>
  /** Runs in the cache's own context. */
  detached<T>(run: () => T): T
  /** More was missed than can be remembered. */
  onOverflow(): void
}

export class Outbox {
  readonly #options: OutboxOptions
  readonly #waiting = new Map<string, Missed>()
  readonly #taken = new Map<string, number>()
  #stop: (() => void) | undefined
  #draining: Promise<void> | undefined
  #closed = false

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  /** Whether the store holds something of this key that is known to be outdated. */
  has(key: string): boolean {
    return this.#waiting.size > 0 && this.#waiting.has(key)
  }

  missed(keys: readonly string[], what: Change): void {
    for (const key of keys) {
      const before = this.#waiting.get(key)
      this.#waiting.delete(key)
      this.#waiting.set(key, { what: before?.what === 'invalidate' ? 'invalidate' : what })
      if (this.#waiting.size <= most) continue
      this.#waiting.delete(this.#waiting.keys().next().value!)
      this.#options.onOverflow()
    }
    this.#retryLater(retryMs.first)
  }

  taken(keys: readonly string[]): void {
    const now = this.#options.clock.now()
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

  /** The last minute's invalidations wait again, as if the store had not taken them. */
  repeatRecent(): void {
    const since = this.#options.clock.now() - rememberMs
    const recent = [...this.#taken].filter(([, at]) => at > since).map(([key]) => key)
    if (recent.length > 0) this.missed(recent, 'invalidate')
  }

  /** Repeats what waits, now. Never rejects: what is not taken now is tried again. */
  drain(): Promise<void> {
    this.#draining ??= this.#drain().finally(() => {
      this.#draining = undefined
    })
    return this.#draining
  }

  close(): void {
    this.#closed = true
    this.#stop?.()
    this.#waiting.clear()
  }

  async #drain(): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    try {
      while (this.#waiting.size > 0) {
        const batch = [...this.#waiting].slice(0, batchSize)
        await this.#send(batch, 'invalidate')
        await this.#send(batch, 'expire')
      }
    } catch {
      this.#retryLater(retryMs.most)
    }
  }

  async #send(batch: readonly (readonly [string, Missed])[], what: Change): Promise<void> {
    const sent = batch.filter(([, missed]) => missed.what === what)
    if (sent.length === 0) return
    const keys = sent.map(([key]) => key)
    await this.#options.send((session) => session[what](keys, this.#options.newToken()))
    for (const [key, missed] of sent) {
      if (this.#waiting.get(key) === missed) this.#waiting.delete(key)
    }
  }

  #retryLater(ms: number): void {
    if (this.#closed || this.#stop !== undefined || this.#waiting.size === 0) return
    const { clock, detached, isUp } = this.#options
    const retry = (): void => {
      this.#stop = undefined
      if (isUp()) void this.drain()
    }
    this.#stop = detached(() => clock.after(ms, retry))
  }
}
