// What to set for a target, found by trying: breakwater's model runs with every candidate in the same
// world with the same seed, so that candidates differ by their options and not by luck. Of those that
// meet the targets the one with the youngest answers is taken (at equal age, the one with fewer
// loads); where none does, the one whose worst figure is nearest to its target.

import type { Figures } from './model/figures.ts'
import { p99LoadMs } from './model/load-times.ts'
import { runStrategy } from './model/run-strategy.ts'
import type { Rules, Scenario } from './model/scenario.ts'

export interface Targets {
  readonly p99Ms?: number | undefined
  /** No answer is older: since the source was asked for it. */
  readonly maxAgeMs?: number | undefined
  readonly loadsPerSecond?: number | undefined
  readonly atOnce?: number | undefined
}

export interface Candidate {
  readonly rules: Rules
  readonly figures: Figures
  /** The worst of figure ÷ target; up to 1 all are met. */
  readonly worst: number
  readonly misses: readonly Miss[]
}

export interface Miss {
  readonly target: keyof Targets
  readonly wanted: number
  readonly got: number
}

export interface Recommendation {
  readonly chosen: Candidate
  readonly isMet: boolean
  /** The same without one of its options each. */
  readonly without: readonly { readonly option: Option; readonly figures: Figures }[]
  readonly tried: number
}

export type Option = 'staleWhileRevalidate' | 'earlyRefresh' | 'limit' | 'staleIfError'

const ttlShares = [0.95, 0.75, 0.5, 0.33, 0.2, 0.1, 0.05, 0.02]
const ttlFactors = [1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16]
const windowFactors = [0, 1, 4]

export function recommend(scenario: Scenario, base: Rules, targets: Targets): Recommendation {
  const limited = withLimit(base, scenario, targets)
  const candidates = lifetimes(limited, scenario, targets).map((rules) =>
    tried(scenario, rules, targets),
  )
  const chosen = candidates.reduce((best, one) => (isBetter(one, best) ? one : best))
  const { rules } = chosen
  const variants: readonly (readonly [Option, Rules, boolean])[] = [
    [
      'staleWhileRevalidate',
      { ...rules, staleWhileRevalidateMs: 0 },
      rules.staleWhileRevalidateMs > 0,
    ],
    ['earlyRefresh', { ...rules, earlyRefresh: undefined }, rules.earlyRefresh !== undefined],
    ['staleIfError', { ...rules, staleIfErrorMs: 0 }, scenario.failures > 0],
    ['limit', { ...rules, limit: base.limit }, rules.limit !== base.limit],
  ]
  return {
    chosen,
    isMet: chosen.worst <= 1,
    without: variants
      .filter(([, , isUsed]) => isUsed)
      .map(([option, without]) => ({
        option,
        figures: runStrategy('breakwater', scenario, without),
      })),
    tried: candidates.length,
  }
}

/** A limit is per process, and one is the least: below a place per process only the rate can help. */
function withLimit(base: Rules, { processes }: Scenario, targets: Targets): Rules {
  const { atOnce, loadsPerSecond } = targets
  if (atOnce === undefined && loadsPerSecond === undefined) return base
  const places =
    atOnce === undefined ? base.limit.places : Math.max(1, Math.floor(atOnce / processes))
  return {
    ...base,
    limit: { ...base.limit, places, perSecond: loadsPerSecond ?? base.limit.perSecond },
  }
}

function lifetimes(base: Rules, { load }: Scenario, { maxAgeMs }: Targets): Rules[] {
  const withWindows = (ttlMs: number, windowMs: number): Rules => ({
    ...base,
    ttlMs: rounded(ttlMs),
    staleWhileRevalidateMs: windowMs === 0 ? 0 : rounded(windowMs),
    staleIfErrorMs: rounded(Math.max(windowMs, maxAgeMs === undefined ? ttlMs * 10 : windowMs)),
  })
  if (maxAgeMs === undefined) {
    return ttlFactors.flatMap((factor) =>
      windowFactors.map((window) => withWindows(base.ttlMs * factor, base.ttlMs * factor * window)),
    )
  }
  // The load's own time counts too: what it brings was asked for when it began.
  const lifeMs = Math.max(2, maxAgeMs - p99LoadMs(load) * 1.5)
  return ttlShares.flatMap((share) => [
    { ...withWindows(lifeMs * share, lifeMs * (1 - share)) },
    { ...withWindows(lifeMs * share, 0) },
  ])
}

function tried(scenario: Scenario, rules: Rules, targets: Targets): Candidate {
  const figures = runStrategy('breakwater', scenario, rules)
  const measured: readonly (readonly [keyof Targets, number])[] = [
    ['p99Ms', figures.latency.p99],
    ['maxAgeMs', figures.age.max],
    ['loadsPerSecond', figures.loadsPerSecond],
    ['atOnce', figures.mostAtOnce],
  ]
  let worst = figures.errorShare > scenario.failures ? 1 + figures.errorShare : 0
  const misses: Miss[] = []
  for (const [target, got] of measured) {
    const wanted = targets[target]
    if (wanted === undefined) continue
    worst = Math.max(worst, got / wanted)
    if (got > wanted) misses.push({ target, wanted, got })
  }
  return { rules, figures, worst, misses }
}

function isBetter(one: Candidate, best: Candidate): boolean {
  if (one.worst > 1 || best.worst > 1) return one.worst < best.worst
  const [age, bestAge] = [one.figures.age.p50, best.figures.age.p50]
  if (Math.abs(age - bestAge) > 0.02 * bestAge) return age < bestAge
  return one.figures.loadsPerSecond < best.figures.loadsPerSecond
}

/** Two digits, downwards: who sets 47,318 ms has to explain it. */
function rounded(ms: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(ms)) - 1)
  return Math.max(1, Math.floor(ms / step) * step)
}
