// What to set for a target, found by trying: breakwater's model runs with every candidate in the same
// world with the same seed, so that candidates differ by their options and not by luck. Of those that
// meet the targets the one that costs the source least is taken, since whoever names an age accepts
// it; where no age is named, the one with the youngest answers. Where none meets them, the one that
// misses the fewest, and of these the one whose worst figure is nearest to its target.

import type { Figures } from './model/figures.ts'
import { meanLoadMs, p99LoadMs } from './model/load-times.ts'
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
  readonly target: keyof Targets | 'failures'
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

const ttlShares = [0.95, 0.9, 0.8, 0.65, 0.5, 0.33, 0.2, 0.1, 0.05]
const ttlFactors = [1 / 16, 1 / 4, 1 / 2, 1, 2, 4, 16]
const windowFactors = [0, 1, 4]

export function recommend(scenario: Scenario, base: Rules, targets: Targets): Recommendation {
  const limited = withLimit(base, scenario, targets)
  const candidates = lifetimes(limited, scenario, targets).map((rules) =>
    tried(scenario, rules, targets),
  )
  const chosen = candidates.reduce((best, one) => (isBetter(one, best, targets) ? one : best))
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
  // A value that is fresh for less than its load takes spares the source nothing.
  const leastMs = meanLoadMs(load)
  const pairs =
    maxAgeMs === undefined
      ? ttlFactors.flatMap((factor) =>
          windowFactors.map((window) => {
            const ttlMs = Math.max(leastMs, base.ttlMs * factor)
            return { ttlMs, windowMs: ttlMs * window, errorMs: ttlMs * 10 }
          }),
        )
      : ttlShares.flatMap((share) => {
          // The load's own time counts too: what it brings was asked for when it began.
          const lifeMs = Math.max(leastMs, maxAgeMs - p99LoadMs(load) * 1.5)
          const ttlMs = Math.max(leastMs, lifeMs * share)
          const leftMs = lifeMs - ttlMs
          return [leftMs, 0].map((windowMs) => ({ ttlMs, windowMs, errorMs: leftMs }))
        })
  const distinct = new Map(
    pairs.map(({ ttlMs, windowMs, errorMs }) => {
      const rules = {
        ...base,
        ttlMs: rounded(ttlMs),
        staleWhileRevalidateMs: rounded(windowMs),
        staleIfErrorMs: rounded(Math.max(windowMs, errorMs)),
      }
      return [`${rules.ttlMs} ${rules.staleWhileRevalidateMs}`, rules] as const
    }),
  )
  return [...distinct.values()]
}

function tried(scenario: Scenario, rules: Rules, targets: Targets): Candidate {
  const figures = runStrategy('breakwater', scenario, rules)
  const measured: readonly (readonly [keyof Targets, number])[] = [
    ['p99Ms', figures.latency.p99],
    ['maxAgeMs', figures.age.max],
    ['loadsPerSecond', figures.loadsPerSecond],
    ['atOnce', figures.mostAtOnce],
  ]
  const misses: Miss[] = []
  let worst = 0
  // Answers that are refused cost nothing and meet every target: not wanted.
  if (figures.errorShare > scenario.failures) {
    worst = 1 + figures.errorShare
    misses.push({ target: 'failures', wanted: scenario.failures, got: figures.errorShare })
  }
  for (const [target, got] of measured) {
    const wanted = targets[target]
    if (wanted === undefined) continue
    worst = Math.max(worst, got / wanted)
    if (got > wanted) misses.push({ target, wanted, got })
  }
  return { rules, figures, worst, misses }
}

function isBetter(one: Candidate, best: Candidate, { maxAgeMs }: Targets): boolean {
  if (one.misses.length !== best.misses.length) return one.misses.length < best.misses.length
  if (one.worst > 1 || best.worst > 1) return one.worst < best.worst
  const cost = ({ figures }: Candidate): number => figures.loadsPerSecond
  const age = ({ figures }: Candidate): number => figures.age.p50
  const [first, second] = maxAgeMs === undefined ? [age, cost] : [cost, age]
  const [mine, its] = [first(one), first(best)]
  // Within two percent it is chance.
  return Math.abs(mine - its) > 0.02 * its ? mine < its : second(one) < second(best)
}

/** Two digits, downwards: who sets 47,318 ms has to explain it. */
function rounded(ms: number): number {
  if (ms < 1) return 0
  const step = 10 ** Math.max(0, Math.floor(Math.log10(ms)) - 1)
  return Math.floor(ms / step) * step
}
