// How long one load takes at a source that has nothing else to do. What others make it wait for is
// the source's own affair (source.ts).

import type { Random } from './random.ts'

export type LoadTimes =
  | { readonly kind: 'fixed'; readonly ms: number }
  | { readonly kind: 'exponential'; readonly meanMs: number }
  | { readonly kind: 'lognormal'; readonly p50Ms: number; readonly p99Ms: number }
  | { readonly kind: 'measured'; readonly sortedMs: readonly number[] }
  /** The first load takes the first of them, and so on; of those that are unknown or left out, any. */
  | {
      readonly kind: 'replayed'
      readonly inOrderMs: readonly (number | undefined)[]
      readonly sortedMs: readonly number[]
    }

const normalP99 = 2.3263478740408408

/** `nth`: of the loads, from 0. */
export function drawLoadMs(times: LoadTimes, random: Random, nth?: number): number {
  switch (times.kind) {
    case 'fixed':
      return times.ms
    case 'exponential':
      return random.exponential(times.meanMs)
    case 'lognormal':
      return times.p50Ms * Math.exp(spreadOf(times) * random.normal())
    case 'measured':
      return times.sortedMs[Math.floor(random.uniform() * times.sortedMs.length)]!
    case 'replayed': {
      const replayed = nth === undefined ? undefined : times.inOrderMs[nth]
      return replayed ?? drawLoadMs({ ...times, kind: 'measured' }, random)
    }
  }
}

export function meanLoadMs(times: LoadTimes): number {
  switch (times.kind) {
    case 'fixed':
      return times.ms
    case 'exponential':
      return times.meanMs
    case 'lognormal':
      return times.p50Ms * Math.exp(spreadOf(times) ** 2 / 2)
    case 'measured':
    case 'replayed':
      return times.sortedMs.reduce((sum, ms) => sum + ms, 0) / times.sortedMs.length
  }
}

/** Of 100 loads, 99 are no longer. */
export function p99LoadMs(times: LoadTimes): number {
  switch (times.kind) {
    case 'fixed':
      return times.ms
    case 'exponential':
      return times.meanMs * Math.log(100)
    case 'lognormal':
      return times.p99Ms
    case 'measured':
    case 'replayed':
      return times.sortedMs[Math.floor(times.sortedMs.length * 0.99)]!
  }
}

function spreadOf({ p50Ms, p99Ms }: { p50Ms: number; p99Ms: number }): number {
  return Math.log(p99Ms / p50Ms) / normalP99
}
