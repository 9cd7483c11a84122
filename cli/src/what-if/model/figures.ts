// From what was counted to what is shown. Shares are of all requests; durations are milliseconds.

import type { Histogram } from './histogram.ts'
import type { StrategyId } from './scenario.ts'
import type { Outcome } from './machine.ts'
import type { World } from './world.ts'

export interface Percentiles {
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface Figures {
  readonly strategy: StrategyId
  readonly requests: number
  readonly loads: number
  /** Times at which a value had to be loaded, each of them once however many loads overlapped. */
  readonly expiries: number
  readonly loadsPerExpiry: number
  readonly loadsPerSecond: number
  readonly mostAtOnce: number
  /** Loads that queued for a connection. */
  readonly mostQueued: number
  readonly latency: Percentiles
  /** How long before the answer the source was asked. */
  readonly age: Percentiles
  /** How long past its ttl a stale answer was. */
  readonly staleBy: Percentiles
  readonly hitShare: number
  readonly memoryShare: number
  readonly staleShare: number
  /** Requests that waited for a load, their own or another's. */
  readonly waitedShare: number
  readonly errorShare: number
  /** Answers with a value from before a write, to callers who came after it. */
  readonly outdated: number
  /** What the source had before it at the end, as time at full speed in all its places. */
  readonly backlogMs: number
  /** So much was under way by then that nothing more was simulated: the figures end there. */
  readonly stoppedAtMs: number | undefined
}

export function figuresOf(id: StrategyId, world: World, outcome: Outcome): Figures {
  const { tally, source, connections } = world
  const { endedAt, isMelted, backlogMs } = outcome
  const { counts } = tally
  const requests = Object.values(counts).reduce((sum, count) => sum + count, 0)
  const share = (count: number): number => (requests === 0 ? 0 : count / requests)
  return {
    strategy: id,
    requests: Math.round(requests),
    loads: tally.loads,
    expiries: tally.expiries,
    loadsPerExpiry: tally.expiries === 0 ? 0 : tally.loads / tally.expiries,
    loadsPerSecond: (tally.loads * 1000) / endedAt,
    mostAtOnce: source.most,
    mostQueued: connections.most,
    latency: percentiles(tally.latency),
    age: percentiles(tally.age),
    staleBy: percentiles(tally.past),
    hitShare: share(counts.memory + counts.store),
    memoryShare: share(counts.memory),
    staleShare: share(counts.stale),
    waitedShare: share(counts.waited + counts.loaded),
    errorShare: share(counts.failed),
    outdated: Math.round(tally.outdated),
    backlogMs,
    stoppedAtMs: isMelted ? endedAt : undefined,
  }
}

function percentiles(histogram: Histogram): Percentiles {
  return {
    p50: histogram.percentile(50),
    p95: histogram.percentile(95),
    p99: histogram.percentile(99),
    max: histogram.max,
  }
}
