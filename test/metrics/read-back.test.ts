// From the running lab to the board: a real Prometheus has scraped its processes and is asked what the
// dashboard and the rules ask; a collector has heard the same by OTLP.

import { canStartPrometheus } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asked, panels, rules, rulesFile, selectors } from '../support/monitoring.ts'
import { startRunningLab, type RunningLab } from '../support/running-lab.ts'

/** Whose good state is nothing, and which do not come about in a few seconds. */
const mayBeZero = new Set(['Behind the database', 'Changes waiting'])

const isThere = canStartPrometheus() || process.env['BREAKWATER_CI'] !== undefined
let lab: RunningLab

describe.skipIf(!isThere)('a running lab', () => {
  beforeAll(async () => {
    lab = await startRunningLab([rulesFile])
  }, 60_000)

  afterAll(() => lab?.stop())

  it('is scraped, and every panel of the board has data', async () => {
    await until(async () => {
      const [up] = await lab.prometheus.query('count(up == 1)')
      return up?.value === lab.processes.all ? [] : ['processes that are scraped']
    })
    let empty = panels
    const look = async (): Promise<string[]> => {
      const looks = await Promise.all(empty.map(hasData))
      empty = empty.filter((_, n) => looks[n] === false)
      return empty.map(({ title }) => title)
    }
    lab.redis.freeze()
    await until(async () => {
      const [open] = await lab.prometheus.query('min(cache_breaker_open{namespace="everything"})')
      return open?.value === 1 ? [] : ['an open breaker']
    })
    await look() // at what is seen only now
    lab.redis.thaw()
    await until(async () => {
      const [open] = await lab.prometheus.query('max(cache_breaker_open)')
      return open?.value === 0 ? [] : ['a closed breaker']
    })
    await lab.redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(look)
  }, 60_000)

  it('has data for every rule, and each of them can be evaluated', async () => {
    const { groups } = await lab.prometheus.api<{ groups: readonly RuleGroup[] }>('rules')
    const evaluated = groups.flatMap((group) => group.rules)
    expect(evaluated).toHaveLength(rules.length)
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([])

    const texts = [...new Set(rules.flatMap(({ expr }) => selectors(expr)).map(({ text }) => text))]
    await until(async () => {
      const found = await Promise.all(texts.map((text) => lab.prometheus.query(text)))
      return texts.filter((_, n) => found[n]!.length === 0)
    })
  }, 30_000)

  it('tells a collector the same by OTLP', async () => {
    const latest = (metric: string, attributes: object): number =>
      lab.collector.points
        .filter((point) => point.metric === metric)
        .filter((point) => Object.entries(attributes).every(([k, v]) => point.attributes[k] === v))
        .reduce((most, { value }) => Math.max(most, value), 0)
    const at = { 'cache.namespace': 'breakwater', 'cache.name': 'trending' }
    await until(() =>
      [
        ['cache.requests', { ...at, 'cache.outcome': 'hit', 'cache.tier': 'memory' }],
        ['cache.loads', { ...at, 'cache.reason': 'miss', 'cache.result': 'ok' }],
        ['cache.lock.wait.duration', at],
        ['cache.load.duration', at],
        ['cache.breaker.opened', { 'cache.namespace': 'breakwater' }],
      ].flatMap(([metric, attributes]) =>
        latest(metric as string, attributes as object) > 0 ? [] : [metric as string],
      ),
    )
    expect(new Set(lab.collector.points.map(({ process }) => process)).size).toBe(lab.processes.lab)
  }, 30_000)

  it('shows by the token of the lease whose load a call of another process waited for', async () => {
    const pairs = (): string[] => {
      const loads = lab.collector.spans.filter(({ name }) => name === 'cache.load trending')
      return lab.collector.spans
        .filter(({ name, parentSpanId }) => name === 'cache.wait trending' && parentSpanId)
        .flatMap(({ attributes, process }) => {
          const lease = attributes['cache.lease']
          const load = loads.find((one) => lease && one.attributes['cache.lease'] === lease)
          return load === undefined || load.process === process
            ? []
            : [`${process} for ${load.process}`]
        })
    }
    await until(() => (pairs().length > 0 ? [] : ['a wait for another process']))
  }, 30_000)
})

interface RuleGroup {
  readonly rules: readonly {
    readonly name: string
    readonly health: string
    readonly lastError?: string
  }[]
}

async function hasData({ title, targets = [] }: (typeof panels)[number]): Promise<boolean> {
  const results = await Promise.all(
    targets.map(({ expr }) => lab.prometheus.query(asked(expr, '15s'))),
  )
  const values = results.map((samples) =>
    samples.map(({ value }) => value).filter((value) => Number.isFinite(value)),
  )
  if (values.some((all) => all.length === 0)) return false
  return mayBeZero.has(title) || values.flat().some((value) => value !== 0)
}

/** `missing`: what is not there yet. */
async function until(missing: () => readonly string[] | Promise<readonly string[]>): Promise<void> {
  await expect.poll(missing, { timeout: 25_000, interval: 250 }).toEqual([])
}
