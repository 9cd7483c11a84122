/** Epochs of tags as the memory store keeps them: the rules of `redis/lua/bump.lua` and `epochs.lua`. */
import type { Label } from '../core/labels.ts'
import type { Bumped, BumpRequest, EpochNews, EpochsRequest, Mark, Settling } from '../ports.ts'

/** As in Redis. */
const mostLabels = 100_000
const mostMarks = 5_000
const keptAfterMs = 10_000

export class MemoryTags {
  /** By epoch, since every change moves its mark to the end. */
  readonly #marks = new Map<string, Mark>()
  readonly #settling = new Map<Label, number>()
  #floor = 0
  #highest = 0

  epochs({ since, known, settling, labels }: EpochsRequest, now: number): EpochNews {
    this.#begin(known, now)
    const marks: Mark[] = []
    const newest = [...this.#marks.values()].reverse()
    for (const mark of newest) if (mark.epoch > since) marks.push(mark)
    const page = marks.slice(0, mostMarks)
    const lookedUp = labels.flatMap((label) => {
      const both = [this.#marks.get(`gone ${label}`), this.#marks.get(`expired ${label}`)]
      return both.filter((mark) => mark !== undefined)
    })
    // Who learns of a change learns in the same answer that it settles.
    const listed: Settling[] =
      settling || marks.length > 0
        ? [...this.#settling].map(([label, until]) => ({ label, until }))
        : []
    return {
      time: now,
      highest: this.#highest,
      floor: this.#floor,
      since: marks.length >= mostMarks ? page.at(-1)!.epoch : since,
      marks: [...page, ...lookedUp],
      settling: listed,
    }
  }

  bump({ labels, kind, known, settleMs }: BumpRequest, now: number): Bumped {
    this.#begin(known, now)
    const previous = this.#highest
    if (kind !== 'settle') {
      this.#highest = Math.max(previous + 1, Math.floor(now * 1_000), known + 1)
      for (const label of labels) this.#mark({ kind, label, epoch: this.#highest })
    }
    const until = settleMs > 0 ? Math.floor(now) + settleMs : 0
    if (until > 0) {
      for (const [label, ended] of this.#settling) {
        if (ended + keptAfterMs < now) this.#settling.delete(label)
      }
      for (const label of labels) {
        this.#settling.set(label, Math.max(until, this.#settling.get(label) ?? 0))
      }
    }
    return { epoch: this.#highest, previous, until }
  }

  #begin(known: number, now: number): void {
    if (this.#highest > 0) return
    this.#highest = this.#floor = Math.max(Math.floor(now * 1_000), known + 1)
  }

  #mark(mark: Mark): void {
    const name = `${mark.kind} ${mark.label}`
    this.#marks.delete(name)
    this.#marks.set(name, mark)
    if (this.#marks.size <= mostLabels) return
    const [oldest] = this.#marks
    this.#floor = oldest![1].epoch
    this.#marks.delete(oldest![0])
  }
}
