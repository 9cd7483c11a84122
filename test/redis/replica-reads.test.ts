// A client whose reads go to a replica: refused unless asked for, and what it reads is never kept.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { until } from '../support/open-session.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

it('is refused without replicaReads', () => {
  const client = new Redis({ ...(server.connection as object), readOnly: true, lazyConnect: true })
  expect(() => redisStore({ client })).toThrow(/replica/)
  expect(() => redisStore({ client, replicaReads: true })).not.toThrow()
  client.disconnect()
})

it('fills no memory: every read goes to the store', async () => {
  const client = new Redis({ ...(server.connection as object) })
  const writer = createCache({ namespace: 'replica', ttl: '60s', store: redisStore({ client }) })
  await until(() => writer.health().status === 'ok')
  await writer.set('k', 'value')
  // The flag alone: the server at hand would refuse nothing.
  const replica = new Redis({ ...(server.connection as object) })
  ;(replica.options as { readOnly?: boolean }).readOnly = true
  const store = redisStore({ client: replica, replicaReads: true })
  const reader = createCache({ namespace: 'replica', ttl: '60s', store })
  await until(() => reader.health().status === 'ok')
  const item = (): Promise<string> => reader.getOrLoad('k', () => 'not this')
  expect([await item(), await item(), await item()]).toEqual(['value', 'value', 'value'])
  expect(reader.counters()['']).toMatchObject({ hitStore: 3, hitMemory: 0 })
  await Promise.all([reader.close(), writer.close()])
  client.disconnect()
  replica.disconnect()
})
