// What every run of the lab stands on: the servers, the shop, the plan, the rates, and where to
// report progress. Made once, handed to each contender and each fault.

import pg from 'pg'
import type { ApiSettings } from '../api/messages.ts'
import type { ContenderId } from '../contenders/contender.ts'
import type { Live } from '../live/live.ts'
import type { Stream } from '../load/messages.ts'
import type { Plan } from '../plan.ts'
import type { RedisAddress } from '../servers/addresses.ts'
import { hotCategory } from '../shop/schema.ts'
import type { Shop } from '../shop/build-shop.ts'

export interface Stage {
  readonly plan: Plan
  readonly shop: Shop
  readonly redis: RedisAddress | undefined
  readonly hotPerSecond: number
  /** Part of every key in Redis, new for each run of the lab. */
  readonly prefix: string
  /** Ctrl-C: ends every process at once. */
  readonly signal: AbortSignal
  readonly live: Live
}

export function streams(hotPerSecond: number, unrelatedPerSecond: number): readonly Stream[] {
  return [
    { endpoint: 'hot', path: `/trending/${hotCategory}`, perSecond: hotPerSecond },
    { endpoint: 'unrelated', path: '/products/{n}', perSecond: unrelatedPerSecond },
  ]
}

/** A name of its own for each use, so that each starts on an empty cache. */
export function apiSettings(stage: Stage, contender: ContenderId, use: string): ApiSettings {
  return {
    contender,
    applicationName: stage.shop.schema,
    database: stage.shop.config,
    poolSize: stage.plan.connections / stage.plan.processes,
    redis: stage.redis,
    namespace: `${stage.prefix}-${use}`,
    ttlMs: stage.plan.ttlMs,
    extraQueryMs: stage.plan.extraQueryMs,
  }
}

/** Ends what a contender left running at the database, so that the next one starts on an idle one. */
export async function quietDatabase(stage: Stage): Promise<void> {
  const client = new pg.Client(stage.shop.config)
  client.on('error', () => undefined)
  await client.connect()
  try {
    for (let look = 0; look < 100; look++) {
      const { rowCount } = await client.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1',
        [stage.shop.schema],
      )
      if (rowCount === 0) return
      await new Promise((done) => setTimeout(done, 20))
    }
  } finally {
    await client.end()
  }
}
