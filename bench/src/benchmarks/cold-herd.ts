// Everybody at once asks for a key that nobody has.

import { ours } from '../contenders/contenders.ts'
import { errorNotes, figuresOf } from '../fleet/rounds.ts'
import { herdAll, herdPlans, herdTable, oneLoad } from '../herd/herd-table.ts'
import type { Budget, Report, Setting, Table } from '../measure/report.ts'

export async function coldHerd({ quick, runs = 1, say }: Setting): Promise<Report> {
  const tables: Table[] = []
  const budgets: Budget[] = []
  const notes: string[] = []
  for (const plan of herdPlans('cold', quick)) {
    const herds = await herdAll(plan, { runs, say })
    tables.push(herdTable(plan, herds))
    budgets.push(oneLoad(plan, figuresOf(herds, ours.name, 'loads')))
    notes.push(...errorNotes(herds))
  }
  return { tables, budgets, notes }
}
