// What has to be there before anything can be shown: servers, a shop that is filled, the rates that
// fit the machine. Cleans up in any case: private servers end with all they held; in a database or a
// Redis that the user named, the lab's schema and keys are removed, and nothing else.

import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { Redis } from 'ioredis'
import pg from 'pg'
import type { Live } from '../live/live.ts'
import { type Plan, planFor, type Size } from '../plan.ts'
import type { Progress } from '../progress.ts'
import type { Setting } from '../report/result.ts'
import { inSeconds, plural } from '../report/wording.ts'
import type { RedisAddress } from '../servers/addresses.ts'
import { type Servers, startServers } from '../servers/start-servers.ts'
import { buildShop, type Shop } from '../shop/build-shop.ts'
import type { Stage } from './stage.ts'

export interface LabOptions {
  readonly size: Size
  readonly env: NodeJS.ProcessEnv
  readonly progress: Progress
  readonly signal: AbortSignal
  readonly live: Live
}

export interface Ground {
  readonly stage: Stage
  readonly setting: Setting
  /** What is awaited, or a rejection as soon as somebody interrupts. */
  unlessStopped<T>(work: Promise<T>): Promise<T>
}

export async function onPreparedGround<T>(
  options: LabOptions,
  work: (ground: Ground) => Promise<T>,
): Promise<T> {
  const { signal, live } = options
  const progress = alsoTo(live, options.progress)
  const plan = planFor(options.size)
  const prefix = `breakwater-lab-${randomBytes(4).toString('hex')}`
  const undo: (() => Promise<void>)[] = []
  const stopped = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(new Error('interrupted')), { once: true })
  })
  stopped.catch(() => undefined)
  const unlessStopped = async <R>(what: Promise<R>): Promise<R> => {
    what.catch(() => undefined)
    return Promise.race([what, stopped])
  }

  try {
    progress.live('starting PostgreSQL and Redis')
    const starting = startServers(options.env, signal)
    undo.push(async () => (await starting.catch(() => undefined))?.stop())
    const servers = await unlessStopped(starting)
    live.controls.open(servers)
    undo.push(() => live.controls.close())
    const shop = await unlessStopped(fillShop({ servers, prefix, plan, progress, undo }))
    const hotPerSecond = Math.min(plan.mostHotPerSecond, plan.hotOverCapacity * shop.capacity)
    const stage: Stage = { plan, shop, redis: servers.redis, hotPerSecond, prefix, signal, live }
    if (servers.redis?.kind === 'given') undo.push(() => forgetKeys(servers.redis, prefix))
    const found = await unlessStopped(versions(shop, servers.redis))
    return await work({ stage, setting: { ...settingOf(plan, stage), ...found }, unlessStopped })
  } finally {
    options.progress.live('stopping')
    for (const step of undo.reverse()) await step().catch(() => undefined)
    options.progress.live('')
  }
}

/** What the terminal says before anything is under load, the page says too. */
function alsoTo({ record }: Live, progress: Progress): Progress {
  return {
    live(text) {
      record.phase(text)
      progress.live(text)
    },
    done(text) {
      record.happened(text)
      progress.done(text)
    },
  }
}

async function fillShop(options: {
  servers: Servers
  prefix: string
  plan: Plan
  progress: Progress
  undo: (() => Promise<void>)[]
}): Promise<Shop> {
  const { servers, prefix, plan, progress, undo } = options
  const building = buildShop({
    config: servers.database.config,
    schema: prefix.replaceAll('-', '_'),
    firstOrders: plan.firstOrders,
    targetMs: plan.queryTargetMs,
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

function settingOf(plan: Plan, { shop, hotPerSecond }: Stage): Omit<Setting, 'postgres' | 'redis'> {
  return {
    cores: availableParallelism(),
    node: process.versions.node,
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
