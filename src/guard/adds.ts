/**
 * Additions to the shared filter. One is done when it is in every epoch that the record lists, as
 * read after (or at least beside) the write. Why none is missed when the filter is built anew:
 *
 *   1. A adds x: it writes to the epoch in force, reads the record, finds no other, and is done.
 *   2. B announces an epoch, and waits (`noticeMs`) before it reads what is to go into it.
 *   3. A commits the record x. Was that before the end of B's wait, then B reads x.
 *   4. Within the wait every process reads the record, and adds to the new epoch what it has added
 *      in the last minute: so x is in it, too, when A commits later than that.
 *
 *   1. B announces an epoch.
 *   2. A adds x. Whatever A knew before, the record that it reads now has the new epoch: it is not
 *      done before x is in both.
 *   3. B flips. The epoch before is listed until its shards are gone, so that additions reach those
 *      who still ask it.
 *
 * What stays: a record that is committed more than `noticeMs` after its addition, while the process
 * that added it is dead or cannot reach Redis, and the filter is built anew in between.
 */
import { chunksOf } from '../core/parts-of.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Digest } from '../core/siphash.ts'
import { withDeadline } from './deadline.ts'
import type { Epoch } from './epoch.ts'
import type { Filter } from './filter.ts'
import { keepMs, RecentAdds } from './recent-adds.ts'
import { listedIn, type GuardRecord } from './record.ts'
import { lost } from './shelf.ts'

/** Of one script's call: it holds up the server for about a millisecond. */
const together = 500
/** Of the record that was read beside a write. Longer, and the source may have been read since. */
const besideMs = 1_000
const mostKept = 10_000

export class Adds {
  readonly recent = new RecentAdds()
  readonly #filter: Filter
  /** What Redis has not taken. */
  readonly #outbox = new Set<string>()
  readonly #announce: () => Promise<unknown>
  #repeatedAt: number | undefined
  #cancelRepeat: () => void = () => {}
  #cancelRetry: (() => void) | undefined
  #closed = false

  /** `announce`: tells those who keep a copy that the record is not what they know. */
  constructor(filter: Filter, announce: () => Promise<unknown>) {
    this.#filter = filter
    this.#announce = announce
    filter.onRecord((record, before) => this.#catchUp(record, before))
  }

  /** Added here, and maybe nowhere else yet, or not any more. */
  has(text: string): boolean {
    return this.#outbox.has(text) || this.recent.has(text, this.#filter.clock.now())
  }

  /** Rejects with `STORE_UNAVAILABLE` when Redis has not taken them in time; then they are kept. */
  async add(texts: readonly string[]): Promise<void> {
    this.#remember(texts)
    try {
      await this.#withDeadline(this.write(texts))
    } catch (error) {
      this.#keep(texts)
      throw new BreakwaterError(
        'STORE_UNAVAILABLE',
        `guard ${this.#filter.name}: Redis did not take what was added; it is tried again`,
        { cause: error },
      )
    }
  }

  /** To every epoch that is listed. */
  async write(texts: readonly string[]): Promise<GuardRecord> {
    const { keeper, clock } = this.#filter
    const written = new Set<string>()
    for (let record = keeper.present ?? (await keeper.fresh()); ;) {
      const missing = listedIn(record).filter(({ id }) => !written.has(id))
      const from = clock.now()
      const [fresh] = await Promise.all([
        keeper.fresh(),
        ...missing.map((epoch) => this.writeTo(epoch, texts)),
      ])
      for (const { id } of missing) written.add(id)
      record = fresh
      const isComplete = listedIn(record).every(({ id }) => written.has(id))
      if (!isComplete || clock.now() - from > besideMs) continue
      // A version that this one does not know has an epoch that this one cannot write to.
      if (record.isNewer) throw new Error('the filter was built by a newer version')
      if (record.current === undefined) await this.#announce()
      return record
    }
  }

  close(): void {
    this.#closed = true
    this.#cancelRepeat()
    this.#cancelRetry?.()
  }

  async writeTo(epoch: Epoch, texts: readonly string[]): Promise<void> {
    const view = this.#filter.viewOf(epoch)
    const shelf = this.#filter.shelfOf(epoch)
    const byShard = new Map<number, Digest[]>()
    for (const text of texts) {
      const digest = view.digest(text)
      const shard = view.shardOf(digest)
      const digests = byShard.get(shard)
      if (digests === undefined) byShard.set(shard, [digest])
      else digests.push(digest)
    }
    const puts = [...byShard].flatMap(([shard, digests]) =>
      chunksOf(digests, together).map(async (some) => {
        const before = view.countOf(shard)
        const count = await shelf.put(view, shard, some)
        // Nobody is refused by a shard that is lost: there is nothing to add to.
        if (count === lost) view.lose(shard)
        else this.#filter.saw(view, { shard, count, before })
      }),
    )
    await Promise.all(puts)
  }

  /** To an epoch that it had not heard of, all that its builder may miss. */
  #catchUp(record: GuardRecord, before: GuardRecord | undefined): void {
    const known = new Set(before === undefined ? [] : listedIn(before).map(({ id }) => id))
    if (listedIn(record).every(({ id }) => known.has(id))) return
    const texts = this.recent.since(this.#filter.clock.now() - keepMs)
    if (texts.length > 0) this.#writeAside(texts)
  }

  #remember(texts: readonly string[]): void {
    const now = this.#filter.clock.now()
    for (const text of texts) this.recent.add(text, now)
    if (this.#repeatedAt !== undefined || this.#closed) return
    this.#repeatedAt = now
    this.#repeatLater()
  }

  /**
   * Adds them once more, a few times: a replica that took over may have missed the last of them.
   * It is the same as to have added them once.
   */
  #repeatLater(): void {
    const { clock, pace } = this.#filter
    this.#cancelRepeat = clock.after(Math.ceil(Math.min(...pace.repeatMs) / 5), () => {
      const now = clock.now()
      const last = this.#repeatedAt!
      const due = pace.repeatMs.flatMap((ms) => this.recent.since(last - ms, now - ms))
      if (due.length > 0) this.#writeAside(due)
      this.#repeatedAt = this.recent.forget(now) ? undefined : now
      if (this.#repeatedAt !== undefined) this.#repeatLater()
    })
  }

  #writeAside(texts: readonly string[]): void {
    this.#withDeadline(this.write(texts)).catch(() => this.#keep(texts))
  }

  #keep(texts: readonly string[]): void {
    if (this.#closed) return
    for (const text of texts) if (this.#outbox.size < mostKept) this.#outbox.add(text)
    this.#retryLater()
  }

  #retryLater(): void {
    const { clock, pace } = this.#filter
    this.#cancelRetry ??= clock.after(pace.retryMs, () => {
      const texts = [...this.#outbox]
      const again = (): void => {
        this.#cancelRetry = undefined
        if (this.#outbox.size > 0 && !this.#closed) this.#retryLater()
      }
      this.#withDeadline(this.write(texts)).then(() => {
        for (const text of texts) this.#outbox.delete(text)
        this.#remember(texts)
        again()
      }, again)
    })
  }

  #withDeadline<T>(promise: Promise<T>): Promise<T> {
    return withDeadline(this.#filter.clock, this.#filter.pace.writeMs, promise)
  }
}
