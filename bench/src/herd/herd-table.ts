// Herds of all contenders, and the table of them.

import { ours, peers } from '../contenders/contenders.ts'
import { fleetRow, inRounds, latencyColumns, type Rounds } from '../fleet/rounds.ts'
import type { Budget, Table } from '../measure/report.ts'
import { loadMs, runHerds, type HerdPlan } from './run-herd.ts'

export function herdAll(
  plan: HerdPlan,
  { runs, say }: { readonly runs: number; say(text: string): void },
): Promise<Rounds> {
  const what = `${plan.processes} × ${plan.callers}`
  return inRounds([ours, ...peers], { rounds: runs, what, say }, (contender, place) =>
    runHerds(contender, plan, place),
  )
}

export function herdTable({ processes, callers }: HerdPlan, herds: Rounds): Table {
  return {
    id: String(processes),
    title: `${processes} × ${callers} callers, loader ${loadMs} ms`,
    columns: [
      { name: 'loads', unit: 'count' },
      ...latencyColumns,
      { name: 'CPU µs per caller', unit: 'us', brief: true },
      { name: 'errors', unit: 'count', brief: true },
    ],
    rows: [...herds.figures.keys()].map((name) =>
      fleetRow(herds, name, ['loads', 'p50', 'p95', 'p99', 'max', 'cpuUs', 'errors']),
    ),
  }
}

export function oneLoad({ processes }: HerdPlan, loads: readonly number[]): Budget {
  return {
    what: processes === 1 ? 'loads, 1 process' : `loads, ${processes} processes`,
    budget: '1',
    measured: loads.length === 0 ? 'nothing' : `at most ${Math.max(...loads)}`,
    met: loads.length > 0 && loads.every((count) => count === 1),
  }
}

/** 1,000 callers, however many processes. */
export function herdPlans(state: HerdPlan['state'], quick: boolean): HerdPlan[] {
  return (quick ? [4] : [1, 4, 16]).map((processes) => {
    const callers = Math.floor(1_000 / processes)
    return { processes, callers, state, herds: quick ? 1 : 3 }
  })
}
