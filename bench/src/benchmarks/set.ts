// An explicit write, beside the bare client's encode + SET. breakwater's also fences the loads that
// are in flight and tells the other processes; the others' do neither.

import { bareName, otherCodecs, ours, peers } from '../contenders/contenders.ts'
import type { Report, Setting } from '../measure/report.ts'
import { pairTable } from '../pairs/pair-table.ts'
import { runPairs } from '../pairs/run-pairs.ts'
import { basesOf } from './l2-hit.ts'

const base = bareName('ioredis5')

export async function set({ quick, runs = 1, say }: Setting): Promise<Report> {
  const cells = quick ? ['1 KB'] : ['1 KB', '50 KB']
  const outcome = await runPairs({
    workload: 'sets',
    cells,
    contenders: [ours, ...peers, ...(quick ? [] : otherCodecs)],
    basesOf,
    runs,
    effort: { rounds: quick ? 5 : 15, warmUpMs: quick ? 200 : 500, batchMs: quick ? 15 : 30 },
    limitMs: 60_000,
    say,
  })
  return {
    tables: cells.map((cell) => {
      const title = `${cell}, 200 keys, 64 callers`
      return pairTable({ id: cell, title, cell, operation: 'set', unit: 'us', base }, outcome)
    }),
    budgets: [],
    notes: [],
  }
}
