// Chance that repeats itself: the same seed gives the same run, number by number, on every machine.
// The generator is sfc32 (Doty-Humphrey, PractRand), which passes what a model asks of it.

export interface Random {
  /** From 0, below 1. */
  uniform(): number
  exponential(mean: number): number
  normal(): number
  /** How many arrivals of a Poisson process that brings `mean` of them on average. */
  poisson(mean: number): number
}

/** From here on a normal distribution is nearer than a count could tell. */
const manyArrivals = 100
const fewArrivals = 12

export function randomFrom(seed: number): Random {
  let a = 0x9e3779b9
  let b = 0x243f6a88
  let c = seed >>> 0
  let count = 1
  const uniform = (): number => {
    const sum = (((a + b) | 0) + count) | 0
    count = (count + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return (sum >>> 0) / 0x1_0000_0000
  }
  for (let warm = 0; warm < 15; warm++) uniform()

  const exponential = (mean: number): number => -Math.log1p(-uniform()) * mean
  const normal = (): number => Math.sqrt(2 * exponential(1)) * Math.cos(2 * Math.PI * uniform())
  const poisson = (mean: number): number => {
    if (!(mean > 0)) return 0
    if (mean > manyArrivals) return Math.max(0, Math.round(mean + Math.sqrt(mean) * normal()))
    // Two independent halves are as many as the whole.
    if (mean > fewArrivals) return poisson(mean / 2) + poisson(mean / 2)
    let arrivals = 0
    for (let left = mean + Math.log1p(-uniform()); left > 0; left += Math.log1p(-uniform())) {
      arrivals++
    }
    return arrivals
  }
  return { uniform, exponential, normal, poisson }
}
