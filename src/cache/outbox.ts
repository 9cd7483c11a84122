/**
 * Invalidations that the store did not take: of keys, or of labels. They were applied to this
 * process at once and their callers were told (`STORE_UNAVAILABLE`); here they wait, and are
 * repeated until they are taken. Until then what the store has of them is not believed. A write
 * waits as an invalidation of its key, never as a value: a newer one may have been written since.
 *
 * What was taken is remembered for a minute too: a server that took over from another may never
 * have heard of it.
 */
import { chunksOf } from '../core/parts-of.ts'
import type { Clock } from '../ports.ts'

const rememberMs = 60_000
const most = 100_000
const batchSize = 500
const retryMs = { first: 100, most: 1_000 }

export type Change = 'invalidate' | 'expire'
/** One per miss, compared by identity: what is missed during its own replay waits on. */
interface Missed {
  readonly what: Change
}

export interface OutboxOptions {
  readonly clock: Clock
  /** Is whoever keeps this there? While it is not, nothing is sent: its recovery drains what waits. */
  isUp(name: string): boolean
  /** In parts that one server keeps: what one does not take, others may. */
  parts(names: readonly string[]): readonly (readonly string[])[]
  /** Repeats a change of at most 500 names of one part, under the store's deadline; rejects when it was not taken. */
  deliver(names: readonly string[], what: Change): Promise<void>
  /** Runs in the cache's own context. */
  detached<T>(run: () => T): T
  /** More was missed than can be remembered: all of it has been forgotten. */
  onOverflow(remembered: number): void
}

export class Outbox {
  readonly #options: OutboxOptions
  readonly #waiting = new Map<string, Missed>()
  readonly #taken = new Map<string, { readonly at: number; readonly what: Change }>()
  #stop: (() => void) | undefined
  #draining: Promise<void> = Promise.resolve()
  #closed = false

  constructor(options: OutboxOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#waiting.size
  }

  /** What the store does not know of this name: what it holds of it is outdated. */
  waits(name: string): Change | undefined {
    return this.#waiting.size === 0 ? undefined : this.#waiting.get(name)?.what
  }

  missed(names: readonly string[], what: Change): void {
    for (const name of names) {
      const before = this.#waiting.get(name)
      this.#waiting.delete(name)
      this.#waiting.set(name, { what: before?.what === 'invalidate' ? 'invalidate' : what })
    }
    if (this.#waiting.size > most) {
      const { size } = this.#waiting
      this.#waiting.clear()
      this.#options.onOverflow(size)
    }
    this.#retryLater(retryMs.first)
  }

  taken(names: readonly string[], what: Change): void {
    const at = this.#options.clock.now()
    for (const name of names) {
      const missed = this.#waiting.get(name)
      if (missed !== undefined && (what === 'invalidate' || missed.what === what)) {
        this.#waiting.delete(name)
      }
      const before = this.#taken.get(name)
      const wasGone = before?.what === 'invalidate' && before.at > at - rememberMs
      this.#taken.delete(name)
      this.#taken.set(name, { at, what: wasGone ? 'invalidate' : what })
    }
    for (const [name, { at: takenAt }] of this.#taken) {
      if (takenAt > at - rememberMs && this.#taken.size <= most) break
      this.#taken.delete(name)
    }
  }

  /** The last minute's changes (of these names) wait again, as if the store had not taken them. */
  repeatRecent(isOne: (name: string) => boolean = () => true): void {
    const since = this.#options.clock.now() - rememberMs
    for (const what of ['invalidate', 'expire'] as const) {
      const names = [...this.#taken]
        .filter(([, taken]) => taken.at > since && taken.what === what)
        .map(([name]) => name)
        .filter(isOne)
      if (names.length > 0) this.missed(names, what)
    }
  }

  /** Repeats what waits (of these names), now. Never rejects: what is not taken now is tried again. */
  drain(isOne: (name: string) => boolean = this.#options.isUp): Promise<void> {
    // One after the other: the one under way may be of other names.
    const draining = this.#draining.then(() => this.#drain(isOne))
    this.#draining = draining
    return draining
  }

  close(): void {
    this.#closed = true
    this.#stop?.()
    this.#waiting.clear()
  }

  async #drain(isOne: (name: string) => boolean): Promise<void> {
    this.#stop?.()
    this.#stop = undefined
    let taken = true
    while (taken) {
      const names = [...this.#waiting.keys()].filter(isOne)
      if (names.length === 0) break
      const parts = this.#options.parts(names).map((part) => this.#drainPart(part))
      taken = (await Promise.all(parts)).every(Boolean)
    }
    this.#retryLater(retryMs.most)
  }

  /** False: not all of it was taken. */
  async #drainPart(names: readonly string[]): Promise<boolean> {
    try {
      for (const some of chunksOf(names, batchSize)) {
        const batch = some.flatMap((name) => {
          const missed = this.#waiting.get(name)
          return missed === undefined ? [] : [[name, missed] as const]
        })
        await this.#send(batch, 'invalidate')
        await this.#send(batch, 'expire')
      }
      return true
    } catch {
      return false
    }
  }

  async #send(batch: readonly (readonly [string, Missed])[], what: Change): Promise<void> {
    const sent = batch.filter(([, missed]) => missed.what === what)
    if (sent.length === 0) return
    await this.#options.deliver(
      sent.map(([name]) => name),
      what,
    )
    for (const [name, missed] of sent) {
      if (this.#waiting.get(name) === missed) this.#waiting.delete(name)
    }
  }

  #retryLater(ms: number): void {
    if (this.#closed || this.#stop !== undefined || this.#waiting.size === 0) return
    const { clock, detached } = this.#options
    const retry = (): void => {
      this.#stop = undefined
      void this.drain()
    }
    this.#stop = detached(() => clock.after(ms, retry))
  }
}
