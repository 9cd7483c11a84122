// Everybody at once asks for a key that nobody has: 4 × 250 and 16 × 50 callers, a loader of 600 ms.

import { startRedisServer } from '@breakwater/rig'
import { figure, herdErrors, herdTable, runHerds } from '../herd/herd-report.ts'
import type { Budget, Report, Setting, Table } from '../measure/report.ts'

export async function coldHerd({ runs = 3, say }: Setting): Promise<Report> {
  const server = await startRedisServer()
  const tables: Table[] = []
  const budgets: Budget[] = []
  const notes: string[] = []
  try {
    for (const [processes, callers] of [
      [4, 250],
      [16, 50],
    ] as const) {
      const crowd = `${processes} × ${callers}`
      const without = ['async-cache-dedupe, memory only']
      const plan = { url: server.url, processes, callers, key: 'cold', runs, without, say } as const
      const herds = await runHerds(plan)
      tables.push(
        herdTable(`${crowd} callers, loader 600 ms, median (min … max) of ${runs} runs`, herds),
      )
      const loads = Math.max(...figure(herds, 'breakwater', 'loads'))
      budgets.push({
        what: `loads, ${crowd}`,
        budget: '1',
        measured: `at most ${loads}`,
        met: loads === 1,
      })
      notes.push(...herdErrors(herds))
    }
  } finally {
    await server.stop()
  }
  return { title: 'cold-herd', tables, budgets, notes }
}
