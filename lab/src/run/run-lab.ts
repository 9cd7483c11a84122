// The order of events. Cleans up in any case: private servers end with all they held; in a database
// or a Redis that the user named, the lab's schema and keys are removed, and nothing else.

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Redis } from 'ioredis'
import pg from 'pg'
import { contenderIds, contenderNames } from '../contenders/contender.ts'
import type { FaultRow } from '../faults/fault.ts'
import { holderKilled } from '../faults/holder-killed.ts'
import { makerKilled } from '../faults/maker-killed.ts'
import { queryOutlastsLease } from '../faults/query-outlasts-lease.ts'
import { writeDuringLoad } from '../faults/write-during-load.ts'
import { planFor } from '../plan.ts'
import type { Progress } from '../progress.ts'
import { judge } from '../report/judge.ts'
import type { Result, Setting } from '../report/result.ts'
import { inSeconds, plural, ratio } from '../report/wording.ts'
import type { RedisAddress } from '../servers/addresses.ts'
import { type Servers, startServers } from '../servers/start-servers.ts'
import { buildShop, type Shop } from '../shop/build-shop.ts'
import { figuresOf } from './figures.ts'
import { type ContenderRun, runContender } from './run-contender.ts'
import type { Stage } from './stage.ts'

export interface LabOptions {
  readonly size: 'full' | 'quick'
  readonly env: NodeJS.ProcessEnv
  readonly progress: Progress
  readonly signal: AbortSignal
}

export async function runLab(
  options: LabOptions,
): Promise<{ result: Result; runs: readonly ContenderRun[] }> {
  const { progress, signal } = options
  const plan = planFor(options.size)
  const prefix = `breakwater-lab-${randomBytes(4).toString('hex')}`
  const undo: (() => Promise<void>)[] = []
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true })
  })
  stopped.catch(() => undefined)
  const unlessStopped = async <T>(work: Promise<T>): Promise<T> => {
    work.catch(() => undefined)
    return Promise.race([work, stopped])
  }

  try {
    progress.live('starting PostgreSQL and Redis')
    const starting = startServers(options.env, signal)
    undo.push(async () => (await starting.catch(() => undefined))?.stop())
    const servers = await unlessStopped(starting)
    const shop = await unlessStopped(fillShop(servers, prefix, plan.queryTargetMs, options, undo))
    const hotPerSecond = plan.hotOverCapacity * shop.capacity
    const stage: Stage = {
      plan,
      shop,
      redis: servers.redis,
      hotPerSecond,
      prefix,
      signal,
    }
    if (servers.redis?.kind === 'given') undo.push(() => forgetKeys(servers.redis, prefix))

    const runs: ContenderRun[] = []
    for (const id of contenderIds) {
      if (servers.redis === undefined && id.startsWith('lock')) continue
      runs.push(await unlessStopped(showContender(stage, id, progress)))
    }
    const faults: FaultRow[] = []
    for (const fault of [holderKilled, queryOutlastsLease, writeDuringLoad, makerKilled]) {
      progress.live(`breakwater, when ${fault.name} …`)
      const row = await unlessStopped(fault.run(stage))
      faults.push(row)
      progress.done(`breakwater, when ${row.name}: ${row.outcome}`)
    }
    const setting: Setting = {
      cores: availableParallelism(),
      node: process.versions.node,
      ...(await unlessStopped(versions(shop, servers.redis))),
      processes: plan.processes,
      connections: plan.connections,
      orders: shop.orders,
      queryMs: shop.queryMs,
      queriesPerSecond: shop.capacity,
      hotPerSecond,
      unrelatedPerSecond: plan.unrelatedPerSecond,
      ttlMs: plan.ttlMs,
      runMs: plan.runMs,
      timeoutMs: plan.timeoutMs,
    }
    const result: Result = {
      setting,
      contenders: runs.map(figuresOf),
      faults,
      notes: servers.redis === undefined ? [withoutRedis] : [],
      verdict: judge({
        plan,
        runs,
        faults,
        shared: servers.redis !== undefined,
        queryMs: shop.queryMs,
      }),
    }
    return { result, runs }
  } finally {
    progress.live('stopping')
    for (const step of undo.reverse()) await step().catch(() => undefined)
    progress.live('')
  }
}

const withoutRedis =
  'there was no Redis, so each process had a cache of its own. This run cannot show what breakwater ' +
  'does across processes and hosts: one query in the whole fleet, waiters woken by push, takeover ' +
  'after a crash, invalidation everywhere. The contenders that need Redis were left out.'

async function fillShop(
  servers: Servers,
  prefix: string,
  targetMs: number,
  { progress }: LabOptions,
  undo: (() => Promise<void>)[],
): Promise<Shop> {
  const building = buildShop({
    config: servers.database.config,
    schema: prefix.replaceAll('-', '_'),
    firstOrders: 120_000, // never fewer, so that a busy machine does not end up with a toy
    targetMs,
    say: progress.live,
  })
  if (servers.database.kind === 'given') {
    undo.push(async () => (await building.catch(() => undefined))?.drop())
  }
  const shop = await building
  progress.done(
    `the shop has ${plural(shop.orders, 'order', 'orders')}; the trending query takes ` +
      `${inSeconds(shop.queryMs)} alone`,
  )
  return shop
}

async function showContender(
  stage: Stage,
  id: ContenderRun['contender'],
  progress: Progress,
): Promise<ContenderRun> {
  const title = contenderNames[id].title.padEnd(16)
  const begun = performance.now()
  progress.live(`${title} starting`)
  const run = await runContender(stage, id, ({ sent, done, errors, running }) => {
    progress.live(
      `${title} ${((performance.now() - begun) / 1000).toFixed(1)} s, ${sent} sent, ` +
        `${sent - done} unanswered, ${errors} errors, ${plural(running, 'query', 'queries')} running`,
    )
  })
  const { queriesPerExpiry, hot, unrelated, errors } = figuresOf(run)
  progress.done(
    `${title} ${ratio(queriesPerExpiry).padStart(4)} queries per expiry, ` +
      `p95 ${inSeconds(hot.p95)} hot, ${inSeconds(unrelated.p95)} other, ${errors} errors`,
  )
  return run
}

async function versions(
  shop: Shop,
  address: RedisAddress | undefined,
): Promise<{ postgres: string; redis: string | undefined }> {
  const client = new pg.Client(shop.config)
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  await client.end()
  const postgres = rows[0]?.server_version.split(' ')[0] ?? '?'
  if (address === undefined) return { postgres, redis: undefined }
  const redis = new Redis(address.url)
  const about = await redis.info('server')
  redis.disconnect()
  const valkey = /valkey_version:(\S+)/.exec(about)?.[1]
  const version = /redis_version:(\S+)/.exec(about)?.[1] ?? '?'
  return { postgres, redis: valkey === undefined ? version : `(Valkey ${valkey})` }
}

/** The prefix is random: only keys of this very run carry it. */
async function forgetKeys(address: RedisAddress | undefined, prefix: string): Promise<void> {
  if (address === undefined) return
  const redis = new Redis(address.url)
  for await (const keys of redis.scanStream({ match: `*${prefix}*`, count: 500 })) {
    const found = keys as string[]
    if (found.length > 0) await redis.unlink(...found)
  }
  redis.disconnect()
}
