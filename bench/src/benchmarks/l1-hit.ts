// A hit in memory: `await products.get(id)` of breakwater beside `await lru.get(`products:${id}`)`,
// both deriving the key. Each side has a loop of its own, so that none pays for another's types.
// Every side has loaded before, so AsyncLocalStorage is in use, as it is in an application.

import { l1Sides, type Id } from '../peers/l1-sides.ts'
import { interleave, ratios } from '../measure/pairs.ts'
import type { Budget, Report, Setting, Table } from '../measure/report.ts'
import { median, spread, writeSpread } from '../measure/statistics.ts'

const keys = 200
const laps = 250
const budget = 0.5

export async function l1Hit({ runs = 61, say }: Setting): Promise<Report> {
  const tables: Table[] = []
  const budgets: Budget[] = []
  for (const kind of ['string', 'number'] as const) {
    const ids = Array.from({ length: keys }, (_, at): Id => (kind === 'string' ? `kb-${at}` : at))
    say(`${kind} argument …`)
    const { sides, close } = await l1Sides(ids, laps)
    // The budget's two sides alone, so that no third one stirs their caches; then all of them.
    const pair = sides.filter(({ name }) => name === 'lru-cache' || name === 'breakwater')
    const strict = await interleave(pair, { rounds: runs, warmUp: 12 })
    const all = await interleave(sides, { rounds: Math.ceil(runs / 2), warmUp: 4 })
    await close()

    const wall = (name: string): number[] => strict.get(name)?.wallMs ?? []
    const ours = spread(ratios(wall('lru-cache'), wall('breakwater')))
    tables.push({
      title: `${kind} argument, ${keys} keys, ${keys * laps} reads per batch`,
      columns: ['side', 'ns per read', 'of lru-cache (min … max)', 'by CPU time'],
      rows: sides.map(({ name }) => {
        const timings = pair.some((side) => side.name === name) ? strict : all
        const of = (side: string, what: 'wallMs' | 'cpuMs'): number[] =>
          timings.get(side)?.[what] ?? []
        const ratio = (what: 'wallMs' | 'cpuMs'): string =>
          name === 'lru-cache'
            ? '1'
            : writeSpread(spread(ratios(of('lru-cache', what), of(name, what))))
        const ns = (median(of(name, 'wallMs')) * 1e6) / (keys * laps)
        return [name, ns.toFixed(0), ratio('wallMs'), ratio('cpuMs')]
      }),
    })
    budgets.push({
      what: `L1 hit, ${kind} argument`,
      budget: `≥ ${budget} × lru-cache`,
      measured: writeSpread(ours),
      met: ours.median >= budget,
    })
  }
  return { title: 'l1-hit', tables, budgets, notes: [] }
}
