// What a scrape may have: each name with its labels, and the words that these say.

import { newCounters } from '../../src/core/events.ts'
import { createCache } from '../../src/index.ts'
import { histograms, metrics, type HistogramOf } from '../../src/metrics/catalogue.ts'
import { Watch, type Snapshot } from '../../src/metrics/watch.ts'

/** Name, as it is scraped, to its labels. */
export const scraped: ReadonlyMap<string, readonly string[]> = new Map([
  ...metrics.map(({ name, labels }) => [`cache_${name}`, ['namespace', ...labels]] as const),
  ...Object.values<HistogramOf>(histograms).flatMap(({ name }) => [
    [`cache_${name}_bucket`, ['namespace', 'name', 'le']] as const,
    [`cache_${name}_sum`, ['namespace', 'name']] as const,
    [`cache_${name}_count`, ['namespace', 'name']] as const,
  ]),
])

/** By `METRIC LABEL`: what a label may say, where that is a list of words. */
export const words = await wordsOf()

/** Of each metric's labels, as if everything had happened once. */
async function wordsOf(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const cache = createCache({ namespace: 'words', ttl: '1m' })
  const once = Object.fromEntries(Object.keys(newCounters()).map((name) => [name, 1]))
  const from: Snapshot = {
    namespace: 'words',
    counters: new Map([['any', { ...newCounters(), ...once, stale: 2 }]]),
    health: cache.health(),
    totals: new Watch(cache, {
      load() {},
      callers() {},
      waited() {},
      stale() {},
      mismatch() {},
    }).snapshot().totals,
    labelOf: (name) => name,
  }
  await cache.close()
  const all = new Map<string, Set<string>>()
  for (const { name: metric, read } of metrics) {
    read(from, ({ name: _, ...labels }) => {
      for (const [label, word] of Object.entries(labels)) {
        const at = `cache_${metric} ${label}`
        all.set(at, (all.get(at) ?? new Set()).add(word))
      }
    })
  }
  return all
}
