// A hit in memory: `await products.get(id)` beside an awaited `get` of a bare lru-cache, both
// deriving the key from the id.

import { lru, ours, peers } from '../contenders/contenders.ts'
import type { Budget, Report, Setting } from '../measure/report.ts'
import { writeSpread } from '../measure/units.ts'
import { pairRatio, pairTable } from '../pairs/pair-table.ts'
import { profileTable } from '../pairs/profile-table.ts'
import { runPairs, type PairOutcome } from '../pairs/run-pairs.ts'

const least = 0.5

export async function l1Hit({ quick, runs = quick ? 1 : 3, say }: Setting): Promise<Report> {
  const outcome = await runPairs({
    workload: 'l1',
    cells: ['string', 'number'],
    contenders: [ours, ...peers],
    basesOf: () => [lru.name],
    runs,
    effort: { rounds: quick ? 9 : 15, warmUpMs: quick ? 150 : 300, batchMs: quick ? 5 : 10 },
    limitMs: 60_000,
    say,
  })
  const tables = ['string', 'number'].map((cell) =>
    pairTable(
      {
        id: cell,
        title: `${cell} argument, 200 keys`,
        cell,
        operation: 'hit',
        unit: 'ns',
        base: lru.name,
      },
      outcome,
    ),
  )
  const budgets = ['string', 'number'].flatMap((cell) => budgetsOf(outcome, cell))
  const missed = budgets.some(({ met }) => !met)
  const profile = missed ? [await profileTable('l1', 'string', ours.name)] : []
  return { tables: [...tables, ...profile], budgets, notes: [] }
}

function budgetsOf(outcome: PairOutcome, cell: string): Budget[] {
  const ratio = (name: string) => pairRatio(outcome, cell, name, lru.name)
  const measured = ratio(ours.name)
  const others = peers.map(({ name }) => ({ name, median: ratio(name)?.median ?? 0 }))
  const quickest = others.toSorted((a, b) => b.median - a.median)[0]
  return [
    {
      what: `${cell} argument`,
      budget: `≥ ${least} × lru-cache`,
      measured: measured ? writeSpread(measured, 'ratio') : 'nothing',
      met: (measured?.median ?? 0) >= least,
    },
    {
      what: `${cell} argument`,
      budget: 'quicker than every other cache',
      measured: `${((measured?.median ?? 0) / (quickest?.median ?? 0)).toFixed(1)} × ${quickest?.name}`,
      met: (measured?.median ?? 0) > (quickest?.median ?? 0),
    },
  ]
}
