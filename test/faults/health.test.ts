import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Redis } from 'ioredis'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { sleep, until } from '../support/open-session.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

it('health() does not call a bus up whose connection is known to be lost', async () => {
  const client = new Redis({ ...(server.connection as { port: number }), retryStrategy: () => 50 })
  client.on('error', () => {})
  const cache = createCache({ namespace: 'h', ttl: '1m', store: redisStore({ client }) })
  await until(() => cache.health().status === 'ok')
  await server.kill()
  await sleep(500)
  expect(cache.health()).toMatchObject({ store: 'down', bus: 'silent' })
  await cache.close({ timeout: 10 })
  client.disconnect()
})
