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
    case 'replayed':
      return `${durationText(meanLoadMs(load))} on average (${load.sortedMs.length} measured)`
  }
}

/** `longMs`: from here on, what the source has before it at the end is worth a word. */
export function notes(all: readonly Figures[], longMs: number): string[] {
  return all.flatMap(({ strategy, stoppedAtMs, backlogMs, outdated }) => {
    const { title } = strategyNames[strategy]
    const said: string[] = []
    if (stoppedAtMs !== undefined) {
      said.push(
        `${title}: after ${durationText(stoppedAtMs)} so many loads were under way that no more was ` +
          'simulated; the figures end there.',
      )
    }
    if (backlogMs > longMs) {
      said.push(
        `${title}: at the end the source has ${durationText(backlogMs)} of work before it. It does ` +
          'not keep up.',
      )
    }
    if (outdated > 0) {
      said.push(
        `${title}: ${countText(outdated)} answers were older than a write that had come before the ` +
          'question: a load that the write overtook was stored after it.',
      )
    }
    return said
  })
}
