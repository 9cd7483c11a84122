// What a strategy did, counted as it happens. A request that is given up counts with the time until
// then and as an error. Answers that need nothing drawn come in bulk: so many, spread over a range.

import { Histogram } from './histogram.ts'

export type Kind = 'memory' | 'store' | 'stale' | 'waited' | 'loaded' | 'failed'

export interface Range {
  readonly from: number
  readonly to: number
}

export interface Answers {
  readonly kind: Kind
  readonly count: number
  readonly latency: Range
  /** How long before the answer the source was asked for what is served; left out: nothing is. */
  readonly age?: Range | undefined
  /** How long it is past its ttl; left out: it is not. */
  readonly past?: Range | undefined
  readonly isOutdated?: boolean
}

export class Tally {
  readonly latency = new Histogram()
  readonly age = new Histogram()
  readonly past = new Histogram()
  readonly counts: Record<Kind, number> = {
    memory: 0,
    store: 0,
    stale: 0,
    waited: 0,
    loaded: 0,
    failed: 0,
  }
  readonly #timeoutMs: number
  readonly #overhead: (() => number) | undefined
  outdated = 0
  loads = 0
  expiries = 0

  constructor(timeoutMs: number, overhead?: () => number) {
    this.#timeoutMs = timeoutMs
    this.#overhead = overhead
  }

  answer({ kind, count, latency, age, past, isOutdated }: Answers): void {
    if (count <= 0) return
    const late = lateShare(latency, this.#timeoutMs)
    if (late > 0) {
      this.counts.failed += count * late
      this.latency.add(this.#timeoutMs, count * late)
    }
    const inTime = count * (1 - late)
    if (inTime <= 0) return
    this.counts[kind] += inTime
    const range = { from: latency.from, to: Math.min(latency.to, this.#timeoutMs) }
    this.latency.spread(range, inTime, this.#overhead)
    if (age !== undefined) this.age.spread(age, inTime)
    if (past !== undefined) this.past.spread(past, inTime)
    if (isOutdated === true) this.outdated += inTime
  }
}

function lateShare({ from, to }: Range, timeoutMs: number): number {
  if (to <= timeoutMs) return 0
  return from >= timeoutMs ? 1 : (to - timeoutMs) / (to - from)
}
