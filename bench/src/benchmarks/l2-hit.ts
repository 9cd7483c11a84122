// A hit in Redis beside the bare client's GET, decoded with breakwater's own default codec. The
// others are measured with small and large values; the budget has one more size.

import {
  bareName,
  contenderOf,
  otherCodecs,
  oursByClient,
  oursUncompressed,
  peers,
} from '../contenders/contenders.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Budget, Report, Setting } from '../measure/report.ts'
import { writeSpread } from '../measure/units.ts'
import { pairRatio, pairTable } from '../pairs/pair-table.ts'
import { profileTable } from '../pairs/profile-table.ts'
import { runPairs, type PairOutcome } from '../pairs/run-pairs.ts'

const base = bareName('ioredis5')
const least = 0.9

export async function l2Hit({ quick, runs = quick ? 1 : 2, say }: Setting): Promise<Report> {
  const run = (cells: readonly string[], contenders: readonly Contender[]): Promise<PairOutcome> =>
    runPairs({
      workload: 'reads',
      cells,
      contenders,
      basesOf,
      runs,
      effort: { rounds: quick ? 5 : 9, warmUpMs: quick ? 200 : 600, batchMs: quick ? 15 : 25 },
      limitMs: 90_000,
      say,
    })
  const cells = quick
    ? ['1 KB, 200 keys']
    : ['1 KB, 200 keys', '50 KB, 200 keys', '1 KB, 1 key', '50 KB, 1 key']
  const all = await run(cells, [...oursByClient, ...peers, ...(quick ? [] : otherCodecs)])
  const more = await run(['5 KB, 200 keys'], [...oursByClient, oursUncompressed])
  const tableOf = (cell: string, outcome: PairOutcome) => {
    const title = `${cell}, 64 callers`
    return pairTable(
      { id: cell, title, cell, operation: 'read', unit: 'us', base, ownBaseOf },
      outcome,
    )
  }
  const budgets = [...budgetsOf(all, '1 KB, 200 keys'), ...budgetsOf(more, '5 KB, 200 keys')]
  const missed = budgets.find(({ met }) => !met)
  return {
    tables: [
      ...cells.map((cell) => tableOf(cell, all)),
      tableOf('5 KB, 200 keys', more),
      ...(missed ? [await profileTable('reads', missed.cell, missed.contender)] : []),
    ],
    budgets: budgets.map(({ budget }) => budget),
    notes: [],
  }
}

/** The scale of all, and the bare client that the contender itself uses. */
export function basesOf({ client }: Contender): string[] {
  return [...new Set([base, ...(client === undefined ? [] : [bareName(client)])])]
}

export function ownBaseOf(name: string): string | undefined {
  const { client } = contenderOf(name)
  return client && bareName(client)
}

function budgetsOf(outcome: PairOutcome, cell: string) {
  return oursByClient.map(({ name }) => {
    const measured = pairRatio(outcome, cell, name, ownBaseOf(name) ?? base)
    const met = measured !== null && measured.median >= least
    const budget: Budget = {
      what: `${name}, ${cell}`,
      budget: `≥ ${least} × its client's GET + decode`,
      measured: measured ? writeSpread(measured, 'ratio') : 'nothing',
      met,
    }
    return { contender: name, cell, met, budget }
  })
}
