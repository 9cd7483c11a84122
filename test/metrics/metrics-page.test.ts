// The table of docs/metrics.md has every metric as the catalogue has it.

import { describe, expect, it } from 'vitest'
import { histograms, metrics, type HistogramOf } from '../../src/metrics/catalogue.ts'
import { page } from '../support/monitoring.ts'
import { words } from '../support/scraped.ts'

describe('docs/metrics.md', () => {
  const rows = [
    ...page.matchAll(
      /^\| `(cache_\w+)` \| (\w+) \| (.*?) \| `cache\.([\w.]+)` \| (\w+) \| (.+) \|$/gm,
    ),
  ]

  it('has every metric with its type, labels, unit and OpenTelemetry name, and no other', () => {
    const said = rows.map(([, name, type, labels, otel, unit, help]) => ({
      name: name!.slice('cache_'.length),
      type,
      labels: [...labels!.matchAll(/`(\w+)`/g)].map(([, label]) => label),
      otel,
      unit,
      help,
    }))
    const there = [
      ...metrics.map(({ name, type, labels, otel, unit, help }) => ({
        name,
        type,
        labels,
        otel,
        unit,
        help,
      })),
      ...Object.values<HistogramOf>(histograms).map(({ buckets: _, ...metric }) => ({
        ...metric,
        type: 'histogram',
        labels: ['name'],
      })),
    ]
    expect(said).toEqual(
      there.map((metric) => ({ ...metric, unit: metric.unit.replaceAll(/[{}]/g, '') })),
    )
  })

  it('has the words that each label says', () => {
    for (const [, name, , labels] of rows) {
      for (const [, label, list] of labels!.matchAll(/`(\w+)` \(([^)]*)\)/g)) {
        expect(list!.split(', '), `${name} ${label}`).toEqual([...words.get(`${name} ${label}`)!])
      }
    }
  })
})
