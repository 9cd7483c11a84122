// The lab's run as a scenario: its rates, its ttl, its write, its connections, and each contender by
// its own rules. What is measured goes in, what comes of it does not: what its queries took, how many
// the database answers at full speed, the time of a hit in the other contenders' runs. How many
// requests load or wait, and for how long, is the model's to say.

import { sharesOf } from '../model/popularity.ts'
import type { Rules, Scenario, StrategyId } from '../model/scenario.ts'
import { defaultRules } from '../default-rules.ts'
import type { Contender, ContenderId, LabRun } from './read-lab.ts'
import { loadTimesOf, measured, placesOf } from './work-done.ts'

const loopbackMs = 0.2

export interface LabModel {
  readonly strategy: StrategyId
  readonly scenario: Scenario
  readonly rules: Rules
}

export function labModel(run: LabRun, contender: Contender, seed: number): LabModel {
  const { setting } = run
  const load = loadTimesOf(run, contender)
  const hits = run.contenders.filter(({ id }) => id !== contender.id).flatMap(({ hitMs }) => hitMs)
  return {
    ...strategyOf(contender.id, setting.ttlMs),
    scenario: {
      requestsPerSecond: setting.hotPerSecond,
      shares: sharesOf([1]),
      load,
      failures: 0,
      deaths: 0,
      processes: setting.processes,
      roundTripMs: loopbackMs,
      durationMs: setting.runMs,
      source: {
        places: placesOf(setting),
        connections: setting.connections,
      },
      timeoutMs: setting.timeoutMs,
      writesPerSecond: 0,
      start: {
        kind: 'filled',
        atMs: contender.cachedAtMs,
        writeAtMs: contender.writeBeganMs,
        loadingUntilMs: contender.loadingUntilMs,
      },
      seed,
      ...(hits.length === 0 ? {} : { overhead: measured(hits) }),
    },
  }
}

function strategyOf(id: ContenderId, ttlMs: number): { strategy: StrategyId; rules: Rules } {
  const recipe = { ...defaultRules, ttlMs, jitter: 0, earlyRefresh: undefined }
  const own = { ...defaultRules, ttlMs }
  switch (id) {
    case 'plain':
      return { strategy: 'none', rules: recipe }
    case 'lock-retry':
      return { strategy: 'lock-retry', rules: recipe }
    case 'lock-poll':
      return { strategy: 'lock-poll', rules: recipe }
    case 'breakwater':
      return { strategy: 'breakwater', rules: own }
    case 'breakwater-swr':
      return { strategy: 'breakwater', rules: { ...own, staleWhileRevalidateMs: ttlMs } }
    case 'breakwater-ahead': {
      const rules = { ...own, ttlMs: ttlMs * 3, jitter: 0, earlyRefresh: undefined, everyMs: ttlMs }
      return { strategy: 'breakwater', rules }
    }
  }
}
