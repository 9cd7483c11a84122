// A PostgreSQL and a Redis for the tests of one file: a database, a name and a cache of its own for
// each test, and what the cache tells of its capture.

import { startPostgresServer, startRedisServer } from '@breakwater/rig'
import type { PostgresServer, PostgresServerOptions, RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import pg from 'pg'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { createCache, type Cache, type CacheEvents, type CacheOptions } from '../../src/index.ts'
import {
  invalidate,
  onTable,
  postgresChanges,
  type PostgresChanges,
  type PostgresChangesOptions,
} from '../../src/postgres/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'

type Told = {
  [
    E in 'changes' | 'changesTaken' | 'changesGap' | 'changesLag' | 'callbackFailed'
  ]: CacheEvents[E][]
}

export interface TestDatabase {
  /** Of the test, and of its slot, channel … */
  readonly name: string
  readonly connection: PostgresServer['connection']
  /** As a superuser; several statements at once without values. */
  query(sql: string, values?: readonly unknown[]): Promise<Record<string, unknown>[]>
  cache(options?: Partial<CacheOptions>): { cache: Cache; told: Told }
  changes(
    cache: Cache,
    options: Omit<PostgresChangesOptions, 'cache' | 'connection' | 'name' | 'heartbeat'> &
      Partial<PostgresChangesOptions>,
  ): PostgresChanges
}

export interface PostgresRig {
  readonly server: PostgresServer
  readonly redis: RedisServer
  database(): Promise<TestDatabase>
}

export function postgresRig(options?: PostgresServerOptions): PostgresRig {
  let server: PostgresServer
  let redis: RedisServer
  let databases = 0
  const endings: (() => unknown)[] = []
  beforeAll(async () => {
    ;[server, redis] = await Promise.all([startPostgresServer(options), startRedisServer()])
  })
  afterEach(async () => {
    for (const end of endings.splice(0).reverse()) await end()
  })
  afterAll(async () => {
    await Promise.all([server.stop(), redis.stop()])
  })
  return {
    get server() {
      return server
    },
    get redis() {
      return redis
    },
    async database() {
      const name = `t${process.pid}_${++databases}`
      const admin = new pg.Client(server.connection)
      await admin.connect()
      await admin.query(`CREATE DATABASE ${name}`)
      await admin.end()
      const connection = { ...server.connection, database: name }
      // One connection, which may have to be made anew after a restart of the server.
      const pool = new pg.Pool({ ...connection, max: 1 })
      pool.on('error', () => {})
      endings.push(() => pool.end())
      return {
        name,
        connection,
        async query(sql, values) {
          const { rows } = await pool.query(sql, values === undefined ? undefined : [...values])
          return (rows ?? []) as Record<string, unknown>[]
        },
        cache(more = {}) {
          const own = new Redis(redis.port)
          own.on('error', () => {})
          const store = redisStore({ client: own })
          const cache = createCache({ namespace: name, ttl: '10m', store, ...more })
          const told: Told = {
            changes: [],
            changesTaken: [],
            changesGap: [],
            changesLag: [],
            callbackFailed: [],
          }
          for (const event of Object.keys(told) as (keyof Told)[]) {
            cache.on(event, (one) => (told[event] as unknown[]).push(one))
          }
          endings.push(async () => {
            await cache.close()
            own.disconnect()
          })
          return { cache, told }
        },
        changes: (cache, more) =>
          postgresChanges({ cache, connection, name, heartbeat: '200ms', ...more }),
      }
    },
  }
}

/** What the processes of test/workers/postgres-changes.mjs need. */
export async function installProducts(
  db: TestDatabase,
  mode: 'notify' | 'replication',
): Promise<void> {
  const { cache } = db.cache()
  const product = cache.define({ name: 'product', load: (id: number) => id })
  const table = onTable<{ id: number; category: string }>('products', {
    columns: ['id', 'category'],
    affects: [product],
    change: ({ row, old }) => invalidate(product, (row ?? old).id),
  })
  await db.changes(cache, { mode, tables: [table] }).install()
}
