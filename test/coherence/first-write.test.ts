// "Instants are Redis's time": of what is written before the first beat was answered, too.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { realClock } from '../support/open-session.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

it.each([-10 * 60_000, 10 * 60_000])(
  'a set at start-up by a host whose clock is %i ms off is fresh for everyone',
  async (ms) => {
    const clients = [new Redis(server.url), new Redis(server.url)] as const
    const clock = { ...realClock, now: () => Date.now() + ms }
    const common = { namespace: `first${ms}`, ttl: '60s', storeTimeout: '2s' } as const
    const wrong = createCache({ ...common, clock, store: redisStore({ client: clients[0] }) })
    const right = createCache({ ...common, store: redisStore({ client: clients[1] }) })
    try {
      await wrong.set('k', 'value')
      expect(await right.peek('k')).toMatchObject({ state: 'fresh', value: 'value' })
      const { freshUntil } = (await right.peek('k')) as { freshUntil: number }
      expect(freshUntil - Date.now()).toBeGreaterThan(40_000)
      expect(freshUntil - Date.now()).toBeLessThan(61_000)
    } finally {
      await Promise.all([wrong.close(), right.close()])
      for (const client of clients) client.disconnect()
    }
  },
)
