// What is asked: the world that all strategies meet alike, and the settings of each. Durations are
// milliseconds, rates per second.

import type { LoadTimes } from './load-times.ts'
import type { Shares } from './popularity.ts'

export const strategyIds = [
  'none',
  'coalescing',
  'lock-retry',
  'lock-poll',
  'xfetch',
  'breakwater',
] as const
export type StrategyId = (typeof strategyIds)[number]

export const strategyNames: Readonly<Record<StrategyId, { title: string; how: string }>> = {
  none: { title: 'no protection', how: 'cache-aside: GET, on a miss load and SET' },
  coalescing: {
    title: 'coalescing',
    how: 'callers of one process share its load; processes do not know of each other',
  },
  'lock-retry': {
    title: 'lock, one retry',
    how: 'SET NX PX; losers take a stale copy, else wait once, look again, then load',
  },
  'lock-poll': { title: 'lock, poll', how: 'SET NX PX; losers look again until it is there' },
  xfetch: {
    title: 'XFetch, no lock',
    how: 'each request may refresh early, by chance; nothing keeps two from doing so',
  },
  breakwater: {
    title: 'breakwater',
    how: 'one lease in the fleet, waiters woken by push, memory, stale windows, early refresh, limit',
  },
}

export interface Scenario {
  readonly requestsPerSecond: number
  readonly shares: Shares
  readonly load: LoadTimes
  /** Share of the loads that fail. */
  readonly failures: number
  /** Share of the loads whose process dies before it has stored anything. */
  readonly deaths: number
  readonly processes: number
  readonly roundTripMs: number
  readonly durationMs: number
  readonly source: SourceRules
  /** When callers give up; their load goes on. */
  readonly timeoutMs: number
  /** Writes that invalidate their key, spread over keys as the requests are. */
  readonly writesPerSecond: number
  readonly start: Start
  /** What an answer takes besides cache and source (HTTP, the event loop); left out: nothing. */
  readonly overhead?: LoadTimes
  readonly seed: number
}

export interface SourceRules {
  /** Loads that run at full speed; more of them share these. */
  readonly places: number
  /** Of the whole fleet; further loads queue for one. */
  readonly connections: number
}

/** `steady`: as after a long time. `empty`: as after a flush. `filled`: everything at one instant. */
export type Start =
  | { readonly kind: 'steady' }
  | { readonly kind: 'empty' }
  | {
      readonly kind: 'filled'
      readonly atMs: number
      readonly writeAtMs?: number
      /** A refresh from before ends then (breakwater alone has such). */
      readonly loadingUntilMs?: number | undefined
    }

export interface Rules {
  readonly ttlMs: number
  readonly jitter: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  readonly errorBackoffMs: number
  /** How long a lease outlives its last renewal; it is renewed at a third of this. */
  readonly leaseMs: number
  readonly earlyRefresh: { readonly beta: number; readonly maxLead: number } | undefined
  readonly memory: boolean
  readonly limit: { readonly places: number; readonly queueMs: number; readonly perSecond: number }
  readonly lock: LockRules
  /** Made anew once per period, asked for or not; no request loads. */
  readonly everyMs?: number
}

export interface LockRules {
  readonly lifeMs: number
  readonly pollMs: number
  readonly retryMs: number
  /** How long the stale copy of the one-retry recipe lives, in ttls. */
  readonly staleTtls: number
}
