// From the running lab to the board: its API processes, and one in which everything else happens, are
// scraped by a real Prometheus, which is then asked what the dashboard and the rules ask. The same
// processes export by OTLP to a collector.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildShop, startFleet, type Fleet } from '@breakwater/lab'
import {
  canStartPrometheus,
  startPostgresServer,
  startPrometheus,
  startRedisServer,
  type PostgresServer,
  type PrometheusServer,
  type RedisServer,
} from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { asked, panels, rules, rulesFile, selectors } from '../support/monitoring.ts'
import { startOtlpCollector, type OtlpCollector } from '../support/otlp-collector.ts'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'

/** Whose good state is nothing, and which do not come about in a few seconds. */
const mayBeZero = new Set(['Behind the database', 'Changes waiting'])

const contenders = [
  ['breakwater', 2],
  ['breakwater-ahead', 1],
] as const

const isThere = canStartPrometheus()
const ending = new AbortController()
let targets: string
let redis: RedisServer
let database: PostgresServer
let collector: OtlpCollector
let fleets: Fleet[] = []
let everything: WorkerProcess
let prometheus: PrometheusServer

describe.skipIf(!isThere && process.env['BREAKWATER_CI'] === undefined)('a running lab', () => {
  beforeAll(async () => {
    targets = mkdtempSync(join(tmpdir(), 'breakwater-targets-'))
    ;[redis, database, collector] = await Promise.all([
      startRedisServer(),
      startPostgresServer(),
      startOtlpCollector(),
    ])
    const shop = await buildShop({
      config: database.connection,
      schema: 'lab',
      firstOrders: 500,
      targetMs: 0,
      say: () => {},
    })
    const settings = {
      applicationName: 'lab',
      database: shop.config,
      poolSize: 3,
      redis: { kind: 'private', url: redis.url },
      ttlMs: 400,
      extraQueryMs: 100,
    } as const
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
    process.env['BREAKWATER_LAB_TARGETS'] = targets
    const [started, ...others] = await Promise.all([
      startWorker('every-metric.mjs', { redis: redis.url, connection: database.connection }),
      ...contenders.map(([contender, size]) =>
        startFleet({ ...settings, contender, namespace: contender }, size, ending.signal),
      ),
    ])
    everything = started
    fleets = others
    const ports = fleets.flatMap(({ members }) => members.map(({ port }) => port))
    const worker = await everything.call<number>('port')
    prometheus = await startPrometheus({
      targets: [`127.0.0.1:${worker}`],
      targetFiles: [join(targets, '*.json')],
      rules: [rulesFile],
    })
    for (const port of ports) void visit(port)
  }, 60_000)

  afterAll(async () => {
    delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
    delete process.env['BREAKWATER_LAB_TARGETS']
    ending.abort()
    await Promise.all([
      prometheus?.stop(),
      everything?.kill(),
      ...fleets.map((fleet) => fleet.stop()),
    ])
    await Promise.all([collector?.close(), redis?.stop(), database?.stop()])
    rmSync(targets, { recursive: true, force: true })
  })

  it('is scraped, and every panel of the board has data', async () => {
    await until(async () => {
      const [up] = await prometheus.query('count(up == 1)')
      return up?.value === 4 ? [] : ['processes that are scraped']
    })
    let empty = panels
    const look = async (): Promise<string[]> => {
      const looks = await Promise.all(empty.map(hasData))
      empty = empty.filter((_, n) => looks[n] === false)
      return empty.map(({ title }) => title)
    }
    redis.freeze()
    await until(async () => {
      const [open] = await prometheus.query('min(cache_breaker_open{namespace="everything"})')
      return open?.value === 1 ? [] : ['an open breaker']
    })
    await look() // at what is seen only now
    redis.thaw()
    await until(async () => {
      const [open] = await prometheus.query('max(cache_breaker_open)')
      return open?.value === 0 ? [] : ['a closed breaker']
    })
    await redis.ask('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(look)
  }, 60_000)

  it('has data for every rule, and each of them can be evaluated', async () => {
    const { groups } = await prometheus.api<{ groups: readonly RuleGroup[] }>('rules')
    const evaluated = groups.flatMap((group) => group.rules)
    expect(evaluated).toHaveLength(rules.length)
    expect(evaluated.filter(({ health }) => health !== 'ok')).toEqual([])

    const texts = [...new Set(rules.flatMap(({ expr }) => selectors(expr)).map(({ text }) => text))]
    await until(async () => {
      const found = await Promise.all(texts.map((text) => prometheus.query(text)))
      return texts.filter((_, n) => found[n]!.length === 0)
    })
  }, 30_000)

  it('tells a collector the same by OTLP', async () => {
    const latest = (metric: string, attributes: object): number =>
      collector.points
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
    expect(new Set(collector.points.map(({ process }) => process)).size).toBe(3)
  }, 30_000)

  it('shows by the token of the lease whose load a call of another process waited for', async () => {
    const pairs = (): string[] => {
      const loads = collector.spans.filter(({ name }) => name === 'cache.load trending')
      return collector.spans
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
  const results = await Promise.all(targets.map(({ expr }) => prometheus.query(asked(expr, '15s'))))
  const values = results.map((samples) =>
    samples.map(({ value }) => value).filter((value) => Number.isFinite(value)),
  )
  if (values.some((all) => all.length === 0)) return false
  return mayBeZero.has(title) || values.flat().some((value) => value !== 0)
}

/** Somebody who reads, and now and then writes. */
async function visit(port: number): Promise<void> {
  for (let turn = 0; !ending.signal.aborted; turn++) {
    const page = `http://127.0.0.1:${port}/trending/keyboards`
    const asks = [page, page, page].map((url) => fetch(url).then((answer) => answer.arrayBuffer()))
    if (turn % 40 === 39)
      asks.push(fetch(`${page}/write`, { method: 'POST' }).then((a) => a.arrayBuffer()))
    await Promise.allSettled(asks)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

/** `missing`: what is not there yet. */
async function until(missing: () => readonly string[] | Promise<readonly string[]>): Promise<void> {
  await expect.poll(missing, { timeout: 25_000, interval: 250 }).toEqual([])
}
