// 4 × 250 callers of one key whose ttl has just passed, a loader of 600 ms, everybody at once.

import { startRedisServer } from '@breakwater/rig'
import { figure, herdErrors, herdTable, runHerds } from '../herd/herd-report.ts'
import type { Report, Setting } from '../measure/report.ts'
import { median, writeMs } from '../measure/statistics.ts'

const shared = ['bentocache', 'async-cache-dedupe', 'catbox']

export async function staleHerd({ runs = 5, say }: Setting): Promise<Report> {
  const server = await startRedisServer()
  try {
    const plan = { url: server.url, processes: 4, callers: 250, key: 'stale', runs, say } as const
    const herds = await runHerds(plan)
    const p95 = (name: string): number => median(figure(herds, name, 'p95'))
    const quickest = shared.toSorted((a, b) => p95(a) - p95(b))[0] ?? ''
    const loads = Math.max(...figure(herds, 'breakwater', 'loads'))
    return {
      title: 'stale-herd',
      tables: [
        herdTable(`4 × 250 callers, loader 600 ms, median (min … max) of ${runs} runs`, herds),
      ],
      budgets: [
        {
          what: 'p95 of a stale herd',
          budget: `≤ ${writeMs(p95(quickest))} ms (${quickest})`,
          measured: `${writeMs(p95('breakwater'))} ms`,
          met: p95('breakwater') <= p95(quickest),
        },
        { what: 'loads', budget: '1', measured: `at most ${loads}`, met: loads === 1 },
      ],
      notes: herdErrors(herds),
    }
  } finally {
    await server.stop()
  }
}
