// Interleaved herds of all contenders, and the table of them.

import { contenders } from './contenders.ts'
import { runHerd, type HerdFigures, type HerdPlan } from './run-herd.ts'
import type { Table } from '../measure/report.ts'
import { median, spread, writeMs } from '../measure/statistics.ts'

export interface HerdPlans extends Omit<HerdPlan, 'contender'> {
  readonly runs: number
  readonly without?: readonly string[]
  say(text: string): void
}

export type Herds = ReadonlyMap<string, readonly HerdFigures[]>

/** Round by round, each round beginning with another contender. */
export async function runHerds(plan: HerdPlans): Promise<Herds> {
  const names = [...contenders.keys()].filter((name) => plan.without?.includes(name) !== true)
  const herds = new Map<string, HerdFigures[]>(names.map((name) => [name, []]))
  for (let run = 0; run < plan.runs; run += 1) {
    const turn = run % names.length
    for (const contender of [...names.slice(turn), ...names.slice(0, turn)]) {
      plan.say(`${plan.processes} × ${plan.callers}, run ${run + 1} of ${plan.runs}: ${contender}`)
      herds.get(contender)?.push(await runHerd({ ...plan, contender }))
    }
  }
  return herds
}

export function figure(
  herds: Herds,
  name: string,
  what: 'p50' | 'p95' | 'p99' | 'loads',
): number[] {
  return herds.get(name)?.map((herd) => herd[what]) ?? []
}

export function herdTable(title: string, herds: Herds): Table {
  const ms = (values: readonly number[]): string => {
    const { median: middle, min, max } = spread(values)
    return `${writeMs(middle)} (${writeMs(min)} … ${writeMs(max)})`
  }
  return {
    title,
    columns: ['contender', 'loads', 'p50 ms', 'p95 ms', 'p99 ms', 'max ms', 'errors'],
    rows: [...herds].map(([name, runs]) => {
      const loads = spread(runs.map((run) => run.loads))
      const same = loads.min === loads.max
      return [
        name,
        same ? String(loads.median) : `${loads.median} (${loads.min} … ${loads.max})`,
        ms(runs.map((run) => run.p50)),
        ms(runs.map((run) => run.p95)),
        writeMs(median(runs.map((run) => run.p99))),
        writeMs(Math.max(...runs.map((run) => run.max))),
        String(runs.reduce((sum, run) => sum + run.errors.length, 0)),
      ]
    }),
  }
}

/** The first of each kind, so that a run with errors says why. */
export function herdErrors(herds: Herds): string[] {
  const kinds = new Set<string>()
  for (const [name, runs] of herds) {
    for (const error of runs.flatMap((run) => run.errors)) kinds.add(`${name}: ${error}`)
  }
  return [...kinds].slice(0, 5)
}
