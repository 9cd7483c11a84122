// Counts of durations in buckets that grow by one percent, so that a percentile is within half a
// percent of the truth over all magnitudes, in a few kilobytes. Counts have weights: one entry may
// stand for a million hits.

const growth = Math.log(1.01)
/** What is shorter counts as no time at all. */
const leastMs = 0.01
const strata = 16
/** Up to three weeks; what is longer counts there. */
const buckets = Math.ceil(Math.log(1.8e9 / leastMs) / growth)

export class Histogram {
  readonly #counts = new Float64Array(buckets)
  /** A bucket answers with its mean: what always takes as long is shown as long. */
  readonly #sums = new Float64Array(buckets)
  #none = 0
  #total = 0
  #max = 0

  get total(): number {
    return this.#total
  }

  get max(): number {
    return this.#max
  }

  add(ms: number, count = 1): void {
    if (count <= 0) return
    this.#total += count
    if (ms > this.#max) this.#max = ms
    if (ms < leastMs) {
      this.#none += count
      return
    }
    const bucket = bucketOf(ms)
    this.#counts[bucket]! += count
    this.#sums[bucket]! += ms * count
  }

  /** As many, spread evenly over a range: what arrives by Poisson's law within it. `more` is on top. */
  spread(
    { from, to }: { readonly from: number; readonly to: number },
    count: number,
    more?: () => number,
  ): void {
    const parts = from === to && more === undefined ? 1 : strata
    for (let part = 0; part < parts; part++) {
      this.add(from + ((part + 0.5) / parts) * (to - from) + (more?.() ?? 0), count / parts)
    }
  }

  /** 0 where there is nothing. */
  percentile(percent: number): number {
    const wanted = (this.#total * percent) / 100
    let seen = this.#none
    if (this.#total === 0 || seen >= wanted) return 0
    const last = bucketOf(this.#max)
    for (let bucket = 0; bucket < last; bucket++) {
      seen += this.#counts[bucket]!
      if (seen >= wanted * (1 - 1e-12)) return this.#sums[bucket]! / this.#counts[bucket]!
    }
    return this.#max
  }
}

function bucketOf(ms: number): number {
  return Math.min(buckets - 1, Math.floor(Math.log(ms / leastMs) / growth))
}
