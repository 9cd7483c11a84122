/**
 * A copy of the shared filter in this process, which answers without a round trip. Downloaded after
 * the bus is known to be heard; what is added from then on comes as messages, each published after
 * its bits were written: it is in the download or it is heard. Whatever makes this doubtful (another
 * epoch, deafness, a lost shard) ends the copy, and the shared filter is asked until there is another.
 */
import { BitShards } from '../core/bit-shards.ts'
import type { EpochView } from './epoch-view.ts'
import type { Filter } from './filter.ts'
import type { GuardMessage } from './guard-message.ts'
import type { Hearing } from './guard-bus.ts'

const retryMs = 1_000
/** Shards at once: about a megabyte on its way. */
const together = 4

interface Copy {
  readonly view: EpochView
  readonly bits: BitShards
  whole: boolean
}

export class Replica {
  readonly #filter: Filter
  readonly #listen: (replica: Replica) => Hearing
  #hearing: Hearing | undefined
  #copy: Copy | undefined
  #cancelRetry: () => void = () => {}
  #closed = false

  constructor(filter: Filter, listen: (replica: Replica) => Hearing) {
    this.#filter = filter
    this.#listen = listen
    filter.onRecord(() => this.#renew())
  }

  start(): void {
    this.#hearing = this.#listen(this)
    this.#renew()
  }

  /** `undefined`: there is no copy now. */
  has(text: string): boolean | undefined {
    const copy = this.#copy
    if (copy === undefined || !copy.whole || !this.#isGood(copy)) return undefined
    return copy.bits.has(copy.view.passingDigest(text))
  }

  /** Added by this process. */
  add(text: string): void {
    const copy = this.#copy
    if (copy !== undefined) copy.bits.add(copy.view.passingDigest(text))
  }

  onMessage(message: GuardMessage): void {
    if (message.name !== this.#filter.name) return
    if (message.type === 'changed') {
      // Until the record is read nobody knows what holds.
      this.#copy = undefined
      this.#filter.keeper.fresh().catch(() => this.#retryLater())
      return
    }
    const copy = this.#copy
    if (copy === undefined || copy.view.epoch.id !== message.epoch) return
    for (const digest of message.digests) copy.bits.add(digest)
  }

  onHearing(hears: boolean): void {
    this.#copy = undefined
    if (hears) this.#renew()
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#cancelRetry()
    this.#copy = undefined
    await this.#hearing?.close()
  }

  #isGood({ view }: Copy): boolean {
    const { keeper, clock, pace } = this.#filter
    const { present } = keeper
    return (
      present !== undefined &&
      present.current?.id === view.epoch.id &&
      // Polled ± a quarter: one that was missed is one too many.
      clock.now() - present.askedAt <= 2 * pace.pollMs &&
      !view.isAnyLost &&
      keeper.isIdentified &&
      this.#hearing?.hears() === true
    )
  }

  /** Begins a copy of the epoch in force, unless there is one. */
  #renew(): void {
    const { current } = this.#filter
    if (this.#copy !== undefined && this.#copy.view !== current) this.#copy = undefined
    if (this.#closed || this.#copy !== undefined || this.#hearing?.hears() !== true) return
    if (current === undefined || current.epoch.kind !== 'bitmap' || current.isAnyLost) return
    const copy = { view: current, bits: new BitShards(current.epoch), whole: false }
    this.#copy = copy
    this.#download(copy).then(
      () => {
        copy.whole = true
      },
      () => {
        if (this.#copy !== copy) return
        this.#copy = undefined
        this.#retryLater()
      },
    )
  }

  async #download(copy: Copy): Promise<void> {
    const { view, bits } = copy
    for (let from = 0; from < view.epoch.shards; from += together) {
      const length = Math.min(together, view.epoch.shards - from)
      await Promise.all(
        Array.from({ length }, async (_, n) => {
          const shard = from + n
          const before = view.countOf(shard)
          const got = await this.#filter.bitmaps.download(view, shard)
          if (got === undefined) return view.lose(shard)
          this.#filter.saw(view, { shard, count: got.count, before })
          bits.merge(shard, got.bits)
        }),
      )
      if (this.#copy !== copy) throw new Error('another copy is wanted')
    }
  }

  #retryLater(): void {
    this.#cancelRetry()
    this.#cancelRetry = this.#filter.clock.after(retryMs, () => {
      this.#filter.keeper.poll()
      this.#renew()
    })
  }
}
