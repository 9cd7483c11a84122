// The dashboard, the alert rules and the documentation ask for metrics, labels and words that there are.

import { describe, expect, it } from 'vitest'
import { dashboard, expressions, onBoard, panels, rules, selectors } from '../support/monitoring.ts'
import { scraped, words } from '../support/scraped.ts'

/** What a scrape adds, and what Kubernetes does. */
const ofTargets = ['job', 'instance', 'pod']
const records = new Set(rules.flatMap(({ record = [] }) => record))

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

function baseOf({ metric }: { readonly metric: string }): string {
  return metric.replace(/_(bucket|sum|count)$/, '')
}
