// Tables of what pairs took: time per operation, processor time per operation, and how quick that is
// beside a base in the same round of the same process. 1 is as quick, 0.5 takes twice as long.

import type { Column, Row, Table } from '../measure/report.ts'
import { spread, type Spread } from '../measure/statistics.ts'
import type { Timing, Timings } from './interleave.ts'
import type { PairOutcome } from './run-pairs.ts'

export interface PairTablePlan {
  readonly id: string
  readonly title: string
  readonly cell: string
  /** What one operation is called. */
  readonly operation: string
  readonly unit: 'ns' | 'us'
  /** In every process, and so the scale of all. */
  readonly base: string
  /** The base of a contender's own client, where that is told too. */
  ownBaseOf?(contender: string): string | undefined
}

type What = keyof Timing

export function pairTable(plan: PairTablePlan, outcome: PairOutcome): Table {
  const { id, title, base, operation } = plan
  const unit = plan.unit === 'ns' ? 'ns' : 'µs'
  const columns: Column[] = [
    { name: `${unit} per ${operation}`, unit: plan.unit, brief: true },
    { name: `CPU ${unit}`, unit: plan.unit, brief: true },
    { name: `of ${base}`, unit: 'ratio' },
    { name: 'by CPU time', unit: 'ratio' },
  ]
  if (plan.ownBaseOf) columns.push({ name: 'of its own client', unit: 'ratio' })
  const names = [base, ...[...outcome.timings.keys()].filter((name) => name !== base)]
  return { id, title, columns, rows: names.map((name) => rowOf(plan, outcome, name)) }
}

function rowOf(plan: PairTablePlan, outcome: PairOutcome, name: string): Row {
  const problem = outcome.problems.get(name)
  if (problem !== undefined) return { name, figures: [], problem }
  const ownBase = plan.ownBaseOf?.(name)
  const figures: (Spread | null)[] = [
    took(plan, outcome, name, 'wallUs'),
    took(plan, outcome, name, 'cpuUs'),
    pairRatio(outcome, plan.cell, name, plan.base),
    pairRatio(outcome, plan.cell, name, plan.base, 'cpuUs'),
  ]
  if (plan.ownBaseOf) {
    figures.push(ownBase === undefined ? null : pairRatio(outcome, plan.cell, name, ownBase))
  }
  return { name, figures }
}

/** Over all rounds of all processes; null where it was not measured. */
export function pairRatio(
  outcome: PairOutcome,
  cell: string,
  name: string,
  base: string,
  what: What = 'wallUs',
): Spread | null {
  if (name === base) return { median: 1, min: 1, max: 1 }
  const ratios = cellsOf(outcome, cell, name).flatMap((timings) => {
    const side = timings[name]?.[what] ?? []
    return (timings[base]?.[what] ?? []).map((took, round) => took / (side[round] ?? Number.NaN))
  })
  return ratios.length === 0 ? null : spread(ratios)
}

function took(plan: PairTablePlan, outcome: PairOutcome, name: string, what: What): Spread | null {
  const values = cellsOf(outcome, plan.cell, name).flatMap((timings) => timings[name]?.[what] ?? [])
  if (values.length === 0) return null
  return spread(values.map((us) => (plan.unit === 'ns' ? us * 1_000 : us)))
}

/** A base is measured in the processes of all others. */
function cellsOf(outcome: PairOutcome, cell: string, name: string): Timings[] {
  const own = outcome.timings.get(name) ?? []
  const runs = own.length > 0 ? own : [...outcome.timings.values()].flat()
  return runs.flatMap((run) => (run[cell]?.[name] === undefined ? [] : [run[cell]]))
}
