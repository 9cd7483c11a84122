// The scenario in a sentence or two, and what has to be said about a result.

import type { Figures } from '../model/figures.ts'
import { meanLoadMs, type LoadTimes } from '../model/load-times.ts'
import { strategyNames, type Rules, type Scenario } from '../model/scenario.ts'
import { countText, durationText } from './units.ts'

export function scenarioText(scenario: Scenario, rules: Rules): string {
  const { source } = scenario
  return (
    `${countText(scenario.requestsPerSecond)} requests/s over ${countText(scenario.shares.length)} ` +
    `${scenario.shares.length === 1 ? 'key' : 'keys'} from ${countText(scenario.processes)} ` +
    `${scenario.processes === 1 ? 'process' : 'processes'}, for ${durationText(scenario.durationMs)}; ` +
    `a load takes ${loadText(scenario.load)}` +
    (source.places === Infinity ? '' : `, ${countText(source.places)} at once at full speed`) +
    (source.connections === Infinity ? '' : `, ${countText(source.connections)} connections`) +
    `; ttl ${durationText(rules.ttlMs)}` +
    (rules.staleWhileRevalidateMs === 0
      ? ''
      : `, staleWhileRevalidate ${durationText(rules.staleWhileRevalidateMs)}`) +
    (rules.staleIfErrorMs === 0 ? '' : `, staleIfError ${durationText(rules.staleIfErrorMs)}`) +
    `; seed ${scenario.seed}.`
  )
}

export function loadText(load: LoadTimes): string {
  switch (load.kind) {
    case 'fixed':
      return durationText(load.ms)
    case 'exponential':
      return `${durationText(load.meanMs)} on average (exponential)`
    case 'lognormal':
      return `${durationText(load.p50Ms)} (p50), ${durationText(load.p99Ms)} (p99)`
    case 'measured':
      return `${durationText(meanLoadMs(load))} on average (${load.sortedMs.length} measured)`
  }
}

export function notes(all: readonly Figures[]): string[] {
  return all.flatMap(({ strategy, meltedAtMs, outdated }) => [
    ...(meltedAtMs === undefined
      ? []
      : [
          `${strategyNames[strategy].title}: the source does not come back. After ` +
            `${durationText(meltedAtMs)} it had a million groups of loads before it; the figures end there.`,
        ]),
    ...(outdated === 0
      ? []
      : [
          `${strategyNames[strategy].title}: ${countText(outdated)} answers were older than a write ` +
            'that had come before the question: a load that the write overtook was stored after it.',
        ]),
  ])
}
