// A small world to start from: one key, fixed load times, a source without a bound.

import { sharesOf } from '../../cli/src/what-if/model/popularity.ts'
import type { Rules, Scenario } from '../../cli/src/what-if/model/scenario.ts'
import { defaultRules } from '../../cli/src/what-if/default-rules.ts'

export function scenario(own: Partial<Scenario> = {}): Scenario {
  return {
    requestsPerSecond: 100,
    shares: sharesOf([1]),
    load: { kind: 'fixed', ms: 200 },
    failures: 0,
    deaths: 0,
    processes: 4,
    roundTripMs: 0,
    durationMs: 600_000,
    source: { places: Infinity, connections: Infinity },
    timeoutMs: 30_000,
    writesPerSecond: 0,
    start: { kind: 'steady' },
    seed: 1,
    ...own,
  }
}

export function rules(own: Partial<Rules> = {}): Rules {
  return { ...defaultRules, ttlMs: 10_000, jitter: 0, earlyRefresh: undefined, ...own }
}
