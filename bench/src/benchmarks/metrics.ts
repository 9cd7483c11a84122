// A hit in memory with metrics, spans and the verifier on, beside the same without, in one process;
// and what one scrape costs, of which prom-client's own writing is the most.

import { createCache } from 'breakwater'
import { prometheusMetrics } from 'breakwater/prometheus'
import { Registry } from 'prom-client'
import { ours, oursWatched } from '../contenders/contenders.ts'
import type { Budget, Report, Setting } from '../measure/report.ts'
import { median } from '../measure/statistics.ts'
import { write, writeSpread } from '../measure/units.ts'
import { pairRatio, pairTable } from '../pairs/pair-table.ts'
import { runPairs } from '../pairs/run-pairs.ts'

const least = 0.8
const definitions = 20

export async function metrics({ quick, runs = quick ? 1 : 3, say }: Setting): Promise<Report> {
  const outcome = await runPairs({
    workload: 'l1',
    cells: ['string'],
    contenders: oursWatched,
    basesOf: () => [ours.name],
    runs,
    effort: { rounds: quick ? 9 : 15, warmUpMs: quick ? 150 : 300, batchMs: quick ? 5 : 10 },
    limitMs: 60_000,
    say,
  })
  const base = ours.name
  const table = pairTable(
    { id: 'metrics', title: 'a hit in memory', cell: 'string', operation: 'hit', unit: 'ns', base },
    outcome,
  )
  const budgets = oursWatched.map(({ name }): Budget => {
    const measured = pairRatio(outcome, 'string', name, base)
    return {
      what: name,
      budget: `≥ ${least} × without`,
      measured: measured ? writeSpread(measured, 'ratio') : 'nothing',
      met: (measured?.median ?? 0) >= least,
      must: true,
    }
  })
  return { tables: [table], budgets, notes: [await scrapes(quick ? 50 : 300)] }
}

async function scrapes(times: number): Promise<string> {
  const cache = createCache({ namespace: 'bench', ttl: '1h' })
  const registry = new Registry()
  prometheusMetrics({ cache, registry })
  for (let n = 0; n < definitions; n++) {
    await cache.define({ name: `definition-${n}`, load: (id: number) => id }).get(1)
  }
  const took: number[] = []
  const counting: number[] = []
  for (let n = 0; n < times; n++) {
    let begun = performance.now()
    await registry.metrics()
    took.push((performance.now() - begun) * 1_000)
    begun = performance.now()
    cache.counters()
    cache.health()
    counting.push((performance.now() - begun) * 1_000)
    // Else the next scrape would find what this one has read.
    await new Promise((resolve) => setTimeout(resolve, 25))
  }
  await cache.close()
  const series = `${definitions} definitions`
  return (
    `A scrape of ${series} takes ${write(median(took), 'us')} µs in the median, ` +
    `${write(median(counting), 'us')} µs of which the cache is asked; the rest is prom-client's.`
  )
}
