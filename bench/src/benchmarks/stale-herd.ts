// Everybody at once asks for a key whose ttl has just passed, and that may be served stale.

import { ours, peers } from '../contenders/contenders.ts'
import { errorNotes, figuresOf, type Rounds } from '../fleet/rounds.ts'
import { herdAll, herdPlans, herdTable, oneLoad } from '../herd/herd-table.ts'
import type { HerdPlan } from '../herd/run-herd.ts'
import type { Budget, Report, Setting, Table } from '../measure/report.ts'
import { median } from '../measure/statistics.ts'
import { write } from '../measure/units.ts'

export async function staleHerd({ quick, runs = 1, say }: Setting): Promise<Report> {
  const tables: Table[] = []
  const budgets: Budget[] = []
  const waiting = peers.filter(({ servesStale }) => !servesStale).map(({ name }) => name)
  const notes = [
    `Nothing stale is served by ${waiting.join(', ')}: their callers wait for the load.`,
  ]
  for (const plan of herdPlans('stale', quick)) {
    const herds = await herdAll(plan, { runs, say })
    tables.push(herdTable(plan, herds))
    budgets.push(oneLoad(plan, figuresOf(herds, ours.name, 'loads')), quickest(plan, herds))
    notes.push(...errorNotes(herds))
  }
  return { tables, budgets, notes }
}

function quickest({ processes }: HerdPlan, herds: Rounds): Budget {
  const p95 = (name: string): number => median(figuresOf(herds, name, 'p95'))
  const others = peers.map(({ name }) => name).filter((name) => !Number.isNaN(p95(name)))
  const first = others.toSorted((a, b) => p95(a) - p95(b))[0] ?? ''
  return {
    what: processes === 1 ? 'p95, 1 process' : `p95, ${processes} processes`,
    budget: `≤ ${write(p95(first), 'ms')} ms (${first})`,
    measured: `${write(p95(ours.name), 'ms')} ms`,
    met: p95(ours.name) <= p95(first),
  }
}
