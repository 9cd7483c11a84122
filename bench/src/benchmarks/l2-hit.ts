// A hit in Redis: distinct keys, no memory tier, 64 reads at once. Beside breakwater the bare
// client's GET, decoded with breakwater's own default codec (the budget), and with msgpackr alone.

import { startRedisServer } from '@breakwater/rig'
import { l2Sides } from '../peers/l2-sides.ts'
import { interleave, ratios } from '../measure/pairs.ts'
import type { Budget, Report, Setting, Table } from '../measure/report.ts'
import { median, spread, writeSpread } from '../measure/statistics.ts'

const keys = 2_000
const reads = 6_000
const lanes = 64
const budget = 0.9

export async function l2Hit({ runs = 21, say }: Setting): Promise<Report> {
  const server = await startRedisServer()
  const tables: Table[] = []
  const budgets: Budget[] = []
  try {
    for (const client of [6, 5] as const) {
      for (const kilobytes of [1, 5]) {
        say(`ioredis ${client}, ${kilobytes} KB …`)
        const plan = { url: server.url, client, kilobytes, keys, reads, lanes }
        const { sides, bytes, close } = await l2Sides(plan)
        const timings = await interleave(sides, { rounds: runs, warmUp: 6 })
        await close()

        const of = (name: string, what: 'wallMs' | 'cpuMs'): number[] =>
          timings.get(name)?.[what] ?? []
        const beside = (base: string, name: string, what: 'wallMs' | 'cpuMs'): string =>
          name === base ? '1' : writeSpread(spread(ratios(of(base, what), of(name, what))))
        tables.push({
          title: `ioredis ${client}, ${bytes} bytes, ${lanes} at once, ${reads} reads per batch`,
          columns: ['side', 'µs per read', 'CPU µs', 'of GET + codec', 'CPU', 'of GET + msgpackr'],
          rows: sides.map(({ name }) => [
            name,
            ((median(of(name, 'wallMs')) * 1_000) / reads).toFixed(1),
            ((median(of(name, 'cpuMs')) * 1_000) / reads).toFixed(1),
            beside('GET + codec', name, 'wallMs'),
            beside('GET + codec', name, 'cpuMs'),
            beside('GET + msgpackr', name, 'wallMs'),
          ]),
        })
        const ours = spread(ratios(of('GET + codec', 'wallMs'), of('breakwater', 'wallMs')))
        budgets.push({
          what: `L2 hit, ioredis ${client}, ${kilobytes} KB`,
          budget: `≥ ${budget} × GET + decode`,
          measured: writeSpread(ours),
          met: ours.median >= budget,
        })
      }
    }
  } finally {
    await server.stop()
  }
  return { title: 'l2-hit', tables, budgets, notes: [] }
}
