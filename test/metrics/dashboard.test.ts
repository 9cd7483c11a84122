// The dashboard, the alert rules and docs/metrics.md name the metrics, labels and words that there are,
// and no other; promtool has the last word on rules and expressions.

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { canStartPrometheus, promtool } from '@breakwater/rig'
import { describe, expect, it } from 'vitest'
import { newCounters } from '../../src/core/events.ts'
import { createCache } from '../../src/index.ts'
import { histograms, metrics, type HistogramOf } from '../../src/metrics/catalogue.ts'
import { Watch, type Snapshot } from '../../src/metrics/watch.ts'
import {
  asked,
  dashboard,
  panels,
  rules,
  rulesFile,
  rulesTestFile,
  scraped,
  selectors,
} from '../support/monitoring.ts'

const page = readFileSync(new URL('../../docs/metrics.md', import.meta.url), 'utf8')
const inDocs = [...page.matchAll(/^```promql\n([^]*?)^```$/gm)].map(([, code]) => code!.trim())
const onBoard = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => asked(expr)))
const expressions = [...onBoard, ...rules.map(({ expr }) => expr), ...inDocs]
/** What a scrape adds, and what Kubernetes does. */
const ofTargets = ['job', 'instance', 'pod']
const records = new Set(rules.flatMap(({ record = [] }) => record))

/** What a label may say, where that is a list of words. */
const words = await wordsOf()

describe('what is asked for', () => {
  it('is a metric of the catalogue, or is recorded by our rules', () => {
    expect(expressions.flatMap((expression) => selectors(expression)).length).toBeGreaterThan(100)
    const unknown = expressions
      .flatMap((expression) => selectors(expression))
      .filter(({ metric }) => !scraped.has(metric) && !records.has(metric))
    expect(unknown).toEqual([])
  })

  it('is chosen by labels that this metric has', () => {
    const unknown = expressions.flatMap((expression) =>
      selectors(expression).filter(
        ({ metric, labels }) =>
          scraped.has(metric) &&
          labels.some((label) => ![...ofTargets, ...scraped.get(metric)!].includes(label)),
      ),
    )
    expect(unknown).toEqual([])
  })

  it('is chosen by words that this label says', () => {
    const unknown = expressions.flatMap((expression) =>
      [...expression.matchAll(/\b(cache_\w+)\{([^}]*)\}/g)].flatMap(([, metric, matchers]) =>
        [...matchers!.matchAll(/(\w+)=~?"([^"]*)"/g)].flatMap(([, label, said]) => {
          const known = words.get(`${metric} ${label}`)
          return known === undefined || said === '.*'
            ? []
            : said!.split('|').filter((word) => !known.has(word))
        }),
      ),
    )
    expect(unknown).toEqual([])
  })

  it('is grouped by labels of what is asked for', () => {
    const unknown = expressions.flatMap((expression) => {
      const known = new Set([
        ...ofTargets,
        ...selectors(expression).flatMap(
          ({ metric }) => scraped.get(metric) ?? ['namespace', 'name'],
        ),
      ])
      return [...expression.matchAll(/\b(?:by|without|on) \(([^)]*)\)/g)]
        .flatMap(([, list]) => list!.split(/,\s*/))
        .filter((label) => !known.has(label))
        .map((label) => `${label} in ${expression}`)
    })
    expect(unknown).toEqual([])
  })

  it('T154: is by labels of closed lists, and never by key', () => {
    const all = new Set([...scraped.values()].flat())
    const closed = ['namespace', 'name', 'capture', 'operation', 'le']
    const listed = [...words.keys()].map((at) => at.split(' ')[1]!)
    expect([...all].filter((label) => ![...closed, ...listed].includes(label))).toEqual([])
  })
})

describe('the dashboard', () => {
  it('shows every metric of the catalogue', () => {
    const shown = new Set(onBoard.flatMap((expression) => selectors(expression)).map(baseOf))
    const missing = [...scraped.keys()]
      .map((metric) => baseOf({ metric }))
      .filter((m) => !shown.has(m))
    expect([...new Set(missing)]).toEqual([])
  })

  it('says of every panel what it shows and what to do', () => {
    expect(panels.filter(({ description = '' }) => description.length < 40)).toEqual([])
  })

  it('has panels of their own ids and places', () => {
    const all = dashboard.panels
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    const cells = all.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, n) => `${x + (n % w)} ${y + Math.floor(n / w)}`),
    )
    expect(new Set(cells).size).toBe(cells.length)
    expect(all.filter(({ gridPos: { x, w } }) => x + w > 24)).toEqual([])
  })

  it('asks only for what its variables choose', () => {
    const known = dashboard.templating.list.map(({ name }) => name)
    const text = JSON.stringify(dashboard.panels)
    const used = [...text.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => name!)
    const builtIn = ['__rate_interval']
    expect(
      [...new Set(used)].filter((name) => !known.includes(name) && !builtIn.includes(name)),
    ).toEqual([])
  })

  it('T156: has fresh, stale and negative answers apart', () => {
    const { targets = [] } = panels.find(({ title }) => title === 'Fresh, stale, waiting')!
    const counted = targets.map(({ expr }) => /outcome=~?"[^"]*"|negative_answers/.exec(expr)?.[0])
    expect(counted).toEqual([
      'outcome="hit"',
      'outcome="stale"',
      'outcome=~"loaded|waited"',
      'negative_answers',
    ])
  })
})

describe('the alerts', () => {
  const alerts = rules.filter(({ alert }) => alert !== undefined)
  const tests = readFileSync(rulesTestFile, 'utf8')

  it('have a severity, and a section of the documentation that names them', () => {
    expect(alerts.length).toBeGreaterThan(20)
    const astray = alerts.filter(({ alert, severity = '', runbook = '' }) => {
      const section = sections.get(runbook.replace('docs/metrics.md#', '')) ?? ''
      return (
        !['critical', 'warning', 'info'].includes(severity) ||
        !section.includes(`\`${alert}\`, ${severity}`)
      )
    })
    expect(astray).toEqual([])
    expect(page).toContain(`${alerts.length} [alerts](#alerts)`)
  })

  it('are tested, each by what it is for and by what only looks like it', () => {
    for (const { alert } of alerts) {
      expect(tests).toMatch(new RegExp(`name: '?(T\\d+, )?${alert}: .*; not where `))
    }
  })

  const isThere = canStartPrometheus() || process.env['BREAKWATER_CI'] !== undefined
  it.skipIf(!isThere)('fire where they should, and nowhere else', () => {
    expect(told('test', 'rules', rulesTestFile)).toContain('SUCCESS')
  }, 120_000)

  it.skipIf(!isThere)(
    'and all expressions of the board and of the documentation are PromQL',
    () => {
      const folder = mkdtempSync(join(tmpdir(), 'breakwater-promql-'))
      try {
        const file = join(folder, 'all.yml')
        const asRules = [...onBoard, ...inDocs].map((expr, n) => ({ record: `n${n}`, expr }))
        // YAML has JSON in it.
        writeFileSync(file, JSON.stringify({ groups: [{ name: 'all', rules: asRules }] }))
        expect(told('check', 'rules', file)).toContain('SUCCESS')
      } finally {
        rmSync(folder, { recursive: true })
      }
      expect(told('check', 'rules', rulesFile)).toContain('SUCCESS')
    },
  )
})

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

const sections = new Map(
  page.split(/^#{2,3} /m).map((text) => {
    const [heading = ''] = text.split('\n')
    return [
      heading
        .toLowerCase()
        .replaceAll(/[^\w -]/g, '')
        .replaceAll(' ', '-'),
      text,
    ] as const
  }),
)

/** Of each metric's labels, as if everything had happened once. */
async function wordsOf(): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
  const cache = createCache({ namespace: 'words', ttl: '1m' })
  const once = Object.fromEntries(Object.keys(newCounters()).map((name) => [name, 1]))
  const from: Snapshot = {
    namespace: 'words',
    counters: new Map([['any', { ...newCounters(), ...once, stale: 2 }]]),
    health: cache.health(),
    totals: new Watch(cache, { load() {}, waited() {}, stale() {}, mismatch() {} }).snapshot()
      .totals,
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

function baseOf({ metric }: { readonly metric: string }): string {
  return metric.replace(/_(bucket|sum|count)$/, '')
}

function told(...command: string[]): string {
  return execFileSync(promtool(), command, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}
