// From the options as they were typed to a scenario, the rules of the caches, and the targets.

import { defaultRules } from './default-rules.ts'
import { durationIn, loadTimesIn, numberIn, oneOf } from './given.ts'
import { expected } from './misuse.ts'
import { zipfShares } from './model/popularity.ts'
import { strategyIds, type Rules, type Scenario, type StrategyId } from './model/scenario.ts'
import type { Given } from './options.ts'
import { readLoadTimes, readTrace } from './read-files.ts'
import type { Targets } from './recommend.ts'

export async function scenarioOf(given: Given): Promise<Scenario> {
  const trace = given.trace === undefined ? undefined : await readTrace('--trace', given.trace)
  const requestsPerSecond =
    given.rate === undefined
      ? (trace?.requestsPerSecond ?? 1000)
      : numberIn('--rate', given.rate, { least: 0.001, most: 1e8 })
  const keys = numberIn('--keys', given.keys, { least: 1, most: 1_000_000, whole: true })
  const zipf = numberIn('--zipf', given.zipf, { least: 0, most: 10 })
  const load = loadTimesIn('--load', given.load)
  return {
    requestsPerSecond,
    shares: trace?.shares ?? zipfShares(keys, zipf),
    load: given.loadFile === undefined ? load : await readLoadTimes('--load-file', given.loadFile),
    failures: numberIn('--failures', given.failures, { least: 0, most: 1 }),
    deaths: numberIn('--deaths', given.deaths, { least: 0, most: 0.9 }),
    processes: wholeIn('--processes', given.processes, 1_000_000),
    roundTripMs: durationIn('--round-trip', given.roundTrip, 0),
    durationMs: durationIn('--duration', given.duration),
    source: {
      places: countOrAny('--source-concurrency', given.sourceConcurrency),
      connections: countOrAny('--connections', given.connections),
    },
    timeoutMs: durationIn('--give-up', given.giveUp),
    writesPerSecond: numberIn('--writes', given.writes, { least: 0, most: 1e6 }),
    start: { kind: given.cold === true ? 'empty' : 'steady' },
    seed: seedOf(given),
  }
}

export function rulesOf(given: Given): Rules {
  const beta = numberIn('--beta', given.beta, { least: 0, most: 100 })
  const maxLead = numberIn('--max-lead', given.maxLead, { least: 0, most: 1 })
  const perSecond = given.limitPerSecond
  return {
    ttlMs: durationIn('--ttl', given.ttl),
    jitter: numberIn('--jitter', given.jitter, { least: 0, most: 1 }),
    staleWhileRevalidateMs: durationIn('--stale-while-revalidate', given.staleWhileRevalidate, 0),
    staleIfErrorMs: durationIn('--stale-if-error', given.staleIfError, 0),
    errorBackoffMs: durationIn('--error-backoff', given.errorBackoff, 0),
    leaseMs: durationIn('--lease', given.lease),
    earlyRefresh: beta === 0 ? undefined : { beta, maxLead },
    memory: given.memory,
    limit: {
      places: wholeIn('--limit', given.limit, 1_000_000),
      queueMs: durationIn('--limit-queue', given.limitQueue, 0),
      perSecond: countOrAny('--limit-per-second', perSecond),
    },
    lock: {
      ...defaultRules.lock,
      lifeMs: durationIn('--lock', given.lock),
      pollMs: durationIn('--poll', given.poll),
      retryMs: durationIn('--retry', given.retry),
    },
  }
}

export function strategiesOf({ strategies }: Given): readonly StrategyId[] {
  if (strategies === undefined) return strategyIds
  return strategies.split(',').map((text) => oneOf('--strategies', text.trim(), strategyIds))
}

export function targetsOf(given: Given): Targets {
  const { targetP99, maxStaleness, maxLoadsPerSecond, maxSourceConcurrency } = given
  const targets = {
    p99Ms: targetP99 === undefined ? undefined : durationIn('--target-p99', targetP99),
    maxAgeMs: maxStaleness === undefined ? undefined : durationIn('--max-staleness', maxStaleness),
    loadsPerSecond:
      maxLoadsPerSecond === undefined
        ? undefined
        : numberIn('--max-loads-per-second', maxLoadsPerSecond, { least: 0.001, most: 1e9 }),
    atOnce:
      maxSourceConcurrency === undefined
        ? undefined
        : wholeIn('--max-source-concurrency', maxSourceConcurrency, 1e9),
  }
  const hasTarget = Object.values(targets).some((target) => target !== undefined)
  if (hasTarget === (given.recommend === true)) return targets
  const option = hasTarget ? '--recommend' : '--target-p99'
  throw hasTarget
    ? expected(option, 'it together with a target', undefined)
    : expected(option, 'it, or another target, together with --recommend', undefined)
}

export function seedOf({ seed }: Given): number {
  return numberIn('--seed', seed, { least: 0, most: 2 ** 32 - 1, whole: true })
}

function wholeIn(option: string, text: string, most: number): number {
  return numberIn(option, text, { least: 1, most, whole: true })
}

function countOrAny(option: string, text: string): number {
  return text === 'any' ? Infinity : numberIn(option, text, { least: 0.001, most: 1e9 })
}
