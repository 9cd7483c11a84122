// Medians, percentiles and how they are written. A noisy machine is met with medians of ratios
// from interleaved runs, never with an average.

export interface Spread {
  readonly median: number
  readonly min: number
  readonly max: number
}

export function spread(values: readonly number[]): Spread {
  return { median: percentile(values, 50), min: Math.min(...values), max: Math.max(...values) }
}

/** Nearest rank. */
export function percentile(values: readonly number[], percent: number): number {
  if (values.length === 0) return Number.NaN
  const sorted = values.toSorted((a, b) => a - b)
  const rank = Math.max(1, Math.ceil((percent / 100) * sorted.length))
  return sorted[rank - 1] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  return percentile(values, 50)
}

/** `0.62 (0.58 … 0.66)` */
export function writeSpread({ median: middle, min, max }: Spread, digits = 2): string {
  return `${middle.toFixed(digits)} (${min.toFixed(digits)} … ${max.toFixed(digits)})`
}

/** Enough digits to tell two figures apart, no more. */
export function writeMs(ms: number): string {
  return ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)
}
