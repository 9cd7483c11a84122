// The epochs of a namespace as `redis/lua/bump.lua` and `epochs.lua` keep them, but with room for
// few labels and small answers, so that a short schedule reaches what takes a hundred thousand
// labels in life; and they can be lost, as when their key is deleted.

import type { Label } from '../../src/core/labels.ts'
import type { Bumped, BumpRequest, EpochNews, EpochsRequest, Mark } from '../../src/ports.ts'

export class SmallTags {
  readonly #most: { readonly labels: number; readonly marks: number }
  #marks: Mark[] = []
  #settling = new Map<Label, number>()
  #floor = 0
  #highest = 0
  #asked = 0

  constructor(most = { labels: 100_000, marks: 5_000 }) {
    this.#most = most
  }

  lose(): void {
    this.#marks = []
    this.#settling.clear()
    this.#floor = 0
    this.#highest = 0
  }

  epochs({ since, known, settling, labels }: EpochsRequest, now: number): EpochNews {
    this.#begin(known, this.#micros(now))
    const newest = this.#marks.toReversed()
    const page = newest.filter(({ epoch }) => epoch > since).slice(0, this.#most.marks)
    return {
      time: now,
      highest: this.#highest,
      floor: this.#floor,
      since: page.length === this.#most.marks ? page.at(-1)!.epoch : since,
      marks: [...page, ...newest.filter(({ label }) => labels.includes(label))],
      settling:
        settling || page.length > 0
          ? [...this.#settling].map(([label, until]) => ({ label, until }))
          : [],
    }
  }

  bump({ labels, kind, known, settleMs }: BumpRequest, now: number): Bumped {
    const micros = this.#micros(now)
    this.#begin(known, micros)
    const previous = this.#highest
    if (kind !== 'settle') {
      const epoch = Math.max(previous + 1, micros, known + 1)
      this.#highest = epoch
      const isChanged = (mark: Mark): boolean => mark.kind === kind && labels.includes(mark.label)
      const changed = labels.map((label): Mark => ({ kind, label, epoch }))
      this.#marks = [...this.#marks.filter((mark) => !isChanged(mark)), ...changed]
      const dropped = this.#marks.splice(0, Math.max(0, this.#marks.length - this.#most.labels))
      this.#floor = dropped.at(-1)?.epoch ?? this.#floor
    }
    const until = settleMs > 0 ? Math.floor(now) + settleMs : 0
    if (until > 0) {
      for (const label of labels) {
        this.#settling.set(label, Math.max(until, this.#settling.get(label) ?? 0))
      }
    }
    return { epoch: this.#highest, previous, until }
  }

  #begin(known: number, micros: number): void {
    if (this.#highest > 0) return
    this.#highest = this.#floor = Math.max(micros, known + 1)
  }

  /** A server's clock moves on while virtual time stands still: no two scripts run in one microsecond. */
  #micros(now: number): number {
    return Math.floor(now * 1_000) + 10 * ++this.#asked
  }
}
