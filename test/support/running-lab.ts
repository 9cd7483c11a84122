// A small piece of the lab, as it runs: its API processes on a private Redis and PostgreSQL, with visitors;
// beside them a process in which everything else happens; a Prometheus that scrapes all of them, and
// a collector that they export to.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildShop, startFleet } from '@breakwater/lab'
import {
  startPostgresServer,
  startPrometheus,
  startRedisServer,
  type PrometheusServer,
  type RedisServer,
} from '@breakwater/rig'
import { startOtlpCollector, type OtlpCollector } from './otlp-collector.ts'
import { startWorker } from './worker-process.ts'

export interface RunningLab {
  readonly redis: RedisServer
  readonly prometheus: PrometheusServer
  readonly collector: OtlpCollector
  /** Of the lab, and the one beside. */
  readonly processes: { readonly lab: number; readonly all: number }
  stop(): Promise<void>
}

const contenders = [
  ['breakwater', 2],
  ['breakwater-ahead', 1],
] as const

export async function startRunningLab(rules: readonly string[]): Promise<RunningLab> {
  const ending = new AbortController()
  const undo: (() => unknown)[] = [() => ending.abort()]
  const stop = async (): Promise<void> => {
    for (const step of undo.splice(0).reverse()) await step()
  }
  try {
    const [redis, database, collector] = await Promise.all([
      startRedisServer(),
      startPostgresServer(),
      startOtlpCollector(),
    ])
    undo.push(() => Promise.all([redis.stop(), database.stop(), collector.close()]))
    const shop = await buildShop({
      config: database.connection,
      schema: 'lab',
      firstOrders: 500,
      targetMs: 0,
      say: () => {},
    })
    const targets = mkdtempSync(join(tmpdir(), 'breakwater-targets-'))
    undo.push(() => rmSync(targets, { recursive: true, force: true }))
    // What its processes find in their environment.
    process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] = collector.url
    process.env['BREAKWATER_LAB_TARGETS'] = targets
    undo.push(() => {
      delete process.env['OTEL_EXPORTER_OTLP_ENDPOINT']
      delete process.env['BREAKWATER_LAB_TARGETS']
    })
    const settings = {
      applicationName: 'lab',
      database: shop.config,
      poolSize: 3,
      redis: { kind: 'private', url: redis.url },
      ttlMs: 400,
      extraQueryMs: 100,
    } as const
    const [worker, ...fleets] = await Promise.all([
      startWorker('every-metric.mjs', { redis: redis.url, connection: database.connection }),
      ...contenders.map(([contender, size]) =>
        startFleet({ ...settings, contender, namespace: contender }, size, ending.signal),
      ),
    ])
    undo.push(() => Promise.all([worker.kill(), ...fleets.map((fleet) => fleet.stop())]))
    const prometheus = await startPrometheus({
      targets: [`127.0.0.1:${await worker.call<number>('port')}`],
      targetFiles: [join(targets, '*.json')],
      rules,
    })
    undo.push(() => prometheus.stop())
    const ports = fleets.flatMap(({ members }) => members.map(({ port }) => port))
    for (const port of ports) void visit(port, ending.signal)
    const processes = { lab: ports.length, all: ports.length + 1 }
    return { redis, prometheus, collector, processes, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Somebody who reads, and now and then writes. */
async function visit(port: number, ended: AbortSignal): Promise<void> {
  for (let turn = 0; !ended.aborted; turn++) {
    const page = `http://127.0.0.1:${port}/trending/keyboards`
    const asks = [page, page, page].map((url) => fetch(url).then((answer) => answer.arrayBuffer()))
    if (turn % 40 === 39)
      asks.push(fetch(`${page}/write`, { method: 'POST' }).then((a) => a.arrayBuffer()))
    await Promise.allSettled(asks)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}
