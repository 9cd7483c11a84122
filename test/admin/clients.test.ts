// breakwater/admin sees the same by every client that we claim, whatever protocol it speaks.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openAdmin, type ProcessSeen } from '../../src/admin/index.ts'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'
import type { Store } from '../../src/ports.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { flavours, nodeRedisClients } from '../support/node-redis-clients.ts'
import { until } from '../support/open-session.ts'

let server: RedisServer
let client: Redis
let cache: Cache

beforeAll(async () => {
  server = await startRedisServer()
  client = new Redis(server.url)
  cache = createCache({ namespace: 'shop', ttl: '1h', store: redisStore({ client }) })
  await until(() => cache.health().bus === 'up')
  await cache.invalidateTags(['a', 'b'])
  await cache.getOrLoad('k', async () => ({ n: 1 }), { tags: ['a'] })
  await cache.idle()
})
afterAll(async () => {
  await cache.close()
  client.disconnect()
  await server.stop()
})

interface ByClient {
  readonly name: string
  store(): { readonly store: Store; end(): void }
}

const clients: readonly ByClient[] = [
  ...majors.map(({ major, Redis: Own }): ByClient => ({
    name: major,
    store: () => {
      const own = clientsOf(() => server, Own)
      return { store: redisStore({ client: own.make() as never }), end: () => own.end() }
    },
  })),
  ...flavours.map((flavour): ByClient => ({
    name: flavour.flavour,
    store: () => {
      const own = nodeRedisClients(flavour)
      return { store: nodeRedisStore({ client: own.make(server) as never }), end: () => own.end() }
    },
  })),
]

it.each(clients)('by $name', async (by) => {
  const { store, end } = by.store()
  const admin = openAdmin({ store, namespace: 'shop' })
  const entry = await admin.entry('k:k')
  expect(entry).toMatchObject({ state: 'fresh', lease: undefined })
  expect(entry.leftMs).toBeGreaterThan(3_000_000)
  expect(entry.frame).toMatchObject({
    tags: ['a'],
    changedBy: undefined,
    value: { type: 'value', value: { n: 1 } },
  })
  const { count, newest } = await admin.tags()
  expect(count).toBe(2)
  expect(new Set(newest.map(({ tag }) => tag))).toEqual(new Set(['a', 'b']))
  let told: readonly ProcessSeen[] = []
  await expect.poll(async () => (told = await admin.processes(600)).length).toBe(1)
  const [process] = told
  expect(process).toMatchObject({ status: 'ok', definitions: { '': { loads: 1 } } })
  await admin.close()
  end()
})
