// A hit in Redis beside the bare client's GET, decoded with breakwater's own default codec.

import {
  bareName,
  contenderOf,
  otherCodecs,
  oursByClient,
  peers,
} from '../contenders/contenders.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Budget, Report, Setting } from '../measure/report.ts'
import { writeSpread } from '../measure/units.ts'
import { pairRatio, pairTable } from '../pairs/pair-table.ts'
import { runPairs, type PairOutcome } from '../pairs/run-pairs.ts'

const base = bareName('ioredis5')
const least = 0.9
const budgetCells = ['1 KB, 200 keys', '5 KB, 200 keys']

export async function l2Hit({ quick, runs = quick ? 1 : 2, say }: Setting): Promise<Report> {
  const cells = quick
    ? ['1 KB, 200 keys', '50 KB, 200 keys']
    : [...budgetCells, '50 KB, 200 keys', '1 KB, 1 key', '50 KB, 1 key']
  const outcome = await runPairs({
    workload: 'reads',
    cells,
    contenders: [...oursByClient, ...peers, ...(quick ? [] : otherCodecs)],
    basesOf,
    runs,
    effort: { rounds: quick ? 5 : 11, warmUpMs: quick ? 200 : 500, batchMs: quick ? 15 : 30 },
    limitMs: 90_000,
    say,
  })
  const tables = cells.map((cell) =>
    pairTable(
      {
        id: cell,
        title: `${cell}, 64 callers`,
        cell,
        operation: 'read',
        unit: 'us',
        base,
        ownBaseOf,
      },
      outcome,
    ),
  )
  return { tables, budgets: budgetCells.flatMap((cell) => budgets(outcome, cell)), notes: [] }
}

/** The scale of all, and the bare client that the contender itself uses. */
export function basesOf({ client }: Contender): string[] {
  return [...new Set([base, ...(client === undefined ? [] : [bareName(client)])])]
}

export function ownBaseOf(name: string): string | undefined {
  const { client } = contenderOf(name)
  return client && bareName(client)
}

function budgets(outcome: PairOutcome, cell: string): Budget[] {
  return oursByClient.flatMap(({ name }) => {
    const measured = pairRatio(outcome, cell, name, ownBaseOf(name) ?? base)
    if (measured === null) return []
    return {
      what: `${name}, ${cell}`,
      budget: `≥ ${least} × its client's GET + decode`,
      measured: writeSpread(measured, 'ratio'),
      met: measured.median >= least,
    }
  })
}
