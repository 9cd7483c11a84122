/**
 * The right to render one key, for the whole fleet: what a loader of the cache waits on, since it is
 * Next.js that renders. Taken by one `get`, ended by the `set` that follows, by a failure, or by its
 * deadline: a render that fails never says so.
 */
import type { EntryContext } from '../api.ts'
import type { Kept } from './kept.ts'

export interface ClaimRules {
  /** Nobody takes it for so long: given back. */
  readonly openMs: number
  /** Taken, and nothing came of it for so long: given up. */
  readonly renderMs: number
  /** The most that anything is fresh. */
  readonly ttlMs: (kept: Kept) => number
}

/** The reason that a load ended without a value. */
export class Unrendered extends Error {
  override readonly name = 'Unrendered'
}

export class Claim {
  /** What may be served while it is rendered anew. */
  readonly previous: Kept | undefined
  /** ms since 1970: what was rendered from then on may be stored by it. */
  readonly begunAt = Date.now()
  readonly value: Promise<Kept>
  isTaken = false
  readonly #ctx: EntryContext
  readonly #rules: ClaimRules
  #settle: { resolve(kept: Kept): void; reject(error: unknown): void } | undefined
  #timer: NodeJS.Timeout

  constructor(ctx: EntryContext & { signal: AbortSignal }, rules: ClaimRules, previous?: Kept) {
    this.previous = previous
    this.#ctx = ctx
    this.#rules = rules
    this.value = new Promise((resolve, reject) => {
      this.#settle = { resolve, reject }
    })
    this.#timer = this.#after(rules.openMs, 'no request came to render it')
    const stop = (): void => this.fail(ctx.signal.reason)
    ctx.signal.addEventListener('abort', stop, { once: true })
    this.value.catch(() => {}).finally(() => ctx.signal.removeEventListener('abort', stop))
  }

  get isOver(): boolean {
    return this.#settle === undefined
  }

  take(): void {
    this.isTaken = true
    clearTimeout(this.#timer)
    this.#timer = this.#after(this.#rules.renderMs, 'its render has stored nothing')
  }

  fulfil(kept: Kept): void {
    if (this.isOver) return
    try {
      this.#ctx.ttl(this.#rules.ttlMs(kept))
      this.#ctx.tags(...kept.tags)
    } catch (error) {
      this.fail(error)
      return
    }
    this.#end()?.resolve(kept)
  }

  fail(error: unknown): void {
    this.#end()?.reject(error)
  }

  #end(): { resolve(kept: Kept): void; reject(error: unknown): void } | undefined {
    clearTimeout(this.#timer)
    const settle = this.#settle
    this.#settle = undefined
    return settle
  }

  #after(ms: number, why: string): NodeJS.Timeout {
    return setTimeout(() => this.fail(new Unrendered(why)), ms).unref()
  }
}
