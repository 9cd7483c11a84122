/**
 * Does in the cache what is pending, one batch after the other. A batch that the store does not take
 * is tried again, with all that came meanwhile, until it is taken: only then is `taken` of the last
 * transaction in it called, which confirms it to the database.
 */
import type { Cache } from '../api.ts'
import { BreakwaterError } from '../core/errors.ts'
import { chunksOf } from '../core/parts-of.ts'
import type { Clock } from '../ports.ts'
import type { Changeable, KeyVerb } from './actions.ts'
import { Refresher } from './refresher.ts'
import type { TableChanges } from './table.ts'
import { Work, type Whole } from './work.ts'

/** As many as the cache sends in one command. */
const most = 500
const retryMs = { first: 50, most: 2_000 }

export interface TakerOptions {
  readonly cache: Cache
  readonly clock: Clock
  readonly settleMs: number
  /** More than so many pending keys and tags become whole definitions. */
  readonly most: number
  /** `clear`, and what is loaded meanwhile is used no longer than until the source has settled. */
  clear(whole: Whole): Promise<void>
  onGap(why: string, tables: readonly TableChanges[]): void
  onTaken(told: { changes: number; keys: number; ms: number }): void
}

export class Taker {
  readonly #options: TakerOptions
  readonly #refresher: Refresher
  #pending = new Work()
  #batch: Work | undefined
  #taken: (() => void) | undefined
  #since: number | undefined
  #running: Promise<void> | undefined
  #wake: (() => void) | undefined
  #waiting: (() => void)[] = []
  #closed = false

  constructor(options: TakerOptions) {
    this.#options = options
    this.#refresher = new Refresher()
  }

  /** Nothing is pending and nothing under way: all that was given has been taken. */
  get isIdle(): boolean {
    return this.#running === undefined && this.#pending.isEmpty
  }

  /** What is pending, and what is under way. */
  get size(): number {
    return this.#pending.size + (this.#batch?.size ?? 0)
  }

  /** When the oldest of what is not taken yet came. */
  get since(): number | undefined {
    return this.#since
  }

  /** What is complete: of whole transactions. `taken` is called when it, and all before it, is done. */
  add(work: Work, taken?: () => void): void {
    if (this.#closed) return
    this.#pending.absorb(work)
    this.bound(this.#pending)
    if (taken !== undefined) this.#taken = taken
    if (this.#pending.isEmpty && this.#running === undefined) return this.#confirm()
    this.#since ??= this.#options.clock.now()
    this.#running ??= this.#run()
  }

  /** Before it grows further, of a transaction that has not ended too. */
  bound(work: Work): void {
    const tables = work.bound(this.#options.most)
    if (tables.length > 0) this.#options.onGap('more changes than are kept', tables)
  }

  /** Resolves when all has been taken; with false: when nothing is taken any more. */
  async done(): Promise<boolean> {
    if (!this.isIdle && !this.#closed) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    }
    return this.isIdle
  }

  /** Resolves when what is under way has ended; what is pending is forgotten, and was never confirmed. */
  async close(): Promise<void> {
    this.#closed = true
    this.#refresher.close()
    this.#wake?.()
    await this.#running
  }

  async #run(): Promise<void> {
    const { clock } = this.#options
    // All that comes in one turn of the event loop is one batch.
    await new Promise<void>((resolve) => setImmediate(resolve))
    let delayMs = retryMs.first
    while (!this.#closed && !this.#pending.isEmpty) {
      const batch = this.#pending
      const taken = this.#taken
      this.#pending = new Work()
      this.#batch = batch
      this.#taken = undefined
      const from = clock.now()
      try {
        const keys = await this.#take(batch)
        delayMs = retryMs.first
        this.#batch = undefined
        this.#since = this.#pending.isEmpty ? undefined : from
        taken?.()
        this.#refresher.add(batch.refreshes)
        const { changes } = batch
        this.#options.onTaken({ changes, keys, ms: clock.now() - from })
      } catch (error) {
        batch.absorb(this.#pending)
        this.#pending = batch
        this.#batch = undefined
        this.#taken ??= taken
        this.bound(batch)
        // The cache has been closed: the next process is told all of it again.
        if (error instanceof BreakwaterError && error.code === 'CLOSED') break
        await this.#sleep(delayMs * (1 + clock.random()))
        delayMs = Math.min(2 * delayMs, retryMs.most)
      }
    }
    this.#running = undefined
    if (!this.#closed && this.#pending.isEmpty) this.#confirm()
    for (const resolve of this.#waiting.splice(0)) resolve()
  }

  #confirm(): void {
    const taken = this.#taken
    this.#taken = undefined
    this.#since = undefined
    taken?.()
  }

  /** Resolves when the store has taken all of it. */
  async #take({ whole, keys, tags }: Work): Promise<number> {
    const { cache, settleMs, clear } = this.#options
    const settle = { settle: settleMs }
    let count = 0
    for (const one of whole) await clear(one)
    for (const [target, work] of keys) {
      const args = (is: (what: KeyVerb) => boolean): never[] =>
        [...work.values()].filter(({ what }) => is(what)).map(({ arg }) => arg as never)
      for (const some of chunksOf(
        args((what) => what === 'invalidate'),
        most,
      )) {
        await target.invalidateMany(some, settle)
      }
      for (const some of chunksOf(
        args((what) => what !== 'invalidate'),
        most,
      )) {
        await this.#expire(target, some)
      }
      count += work.size
    }
    const tagsTo = (what: 'invalidate' | 'expire'): string[] =>
      [...tags].flatMap(([tag, how]) => (how === what ? [tag] : []))
    await cache.invalidateTags(tagsTo('invalidate'), settle)
    await cache.expireTags(tagsTo('expire'))
    return count
  }

  /** What is loaded from a replica that lags must not stay: there, expiring is not enough. */
  async #expire(target: Changeable, args: readonly never[]): Promise<void> {
    if (this.#options.settleMs > 0) {
      await target.invalidateMany(args, { settle: this.#options.settleMs })
    } else await target.expireMany(args)
  }

  #sleep(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const stop = this.#options.clock.after(ms, resolve)
      this.#wake = () => {
        stop()
        resolve()
      }
    })
  }
}
