// The profile of what missed its budget, as a table.

import type { Table } from '../measure/report.ts'
import type { WorkloadName } from './plan.ts'
import { profilePair } from './run-pairs.ts'

const places = 12

export async function profileTable(
  workload: WorkloadName,
  cell: string,
  contender: string,
): Promise<Table> {
  const shares = await profilePair(workload, cell, contender)
  const most = Object.entries(shares)
    .toSorted(([, a], [, b]) => b - a)
    .slice(0, places)
  return {
    id: `profile of ${contender}, ${cell}`,
    title: `Where the time of ${contender} goes, ${cell}: the ${places} places with most samples`,
    columns: [{ name: 'share', unit: 'percent' }],
    rows: most.map(([name, share]) => {
      const percent = share * 100
      return { name, figures: [{ median: percent, min: percent, max: percent }] }
    }),
  }
}
