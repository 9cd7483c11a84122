// `getMany` of 100 keys that Redis has, beside a bare MGET with the decoding of what it gave. Of the
// others, those that have a batch of their own.

import { bareName, ours, oursByClient, peers } from '../contenders/contenders.ts'
import type { Report, Setting } from '../measure/report.ts'
import { writeSpread } from '../measure/units.ts'
import { pairRatio, pairTable } from '../pairs/pair-table.ts'
import { profileTable } from '../pairs/profile-table.ts'
import { runPairs } from '../pairs/run-pairs.ts'
import { basesOf, ownBaseOf } from './l2-hit.ts'

const base = bareName('ioredis5')
const cell = '1 KB, 200 keys'
const least = 0.9

export async function batch({ quick, runs = quick ? 1 : 3, say }: Setting): Promise<Report> {
  const outcome = await runPairs({
    workload: 'batches',
    cells: [cell],
    contenders: [...oursByClient, ...peers],
    basesOf,
    runs,
    effort: { rounds: quick ? 7 : 15, warmUpMs: quick ? 200 : 500, batchMs: quick ? 15 : 30 },
    limitMs: 60_000,
    say,
  })
  const title = '100 of 200 keys at once, 1 KB each, one batch after the other'
  const table = { id: cell, title, cell, operation: 'batch', unit: 'us', base, ownBaseOf } as const
  const budgets = oursByClient.map(({ name }) => {
    const measured = pairRatio(outcome, cell, name, ownBaseOf(name) ?? base)
    return {
      what: `${name}, getMany(100)`,
      budget: `≥ ${least} × its client's MGET + decode`,
      measured: measured ? writeSpread(measured, 'ratio') : 'nothing',
      met: (measured?.median ?? 0) >= least,
    }
  })
  const missed = budgets.some(({ met }) => !met)
  const profile = missed ? [await profileTable('batches', cell, ours.name)] : []
  return { tables: [pairTable(table, outcome), ...profile], budgets, notes: [] }
}
