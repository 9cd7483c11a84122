// The test double that `breakwater/testing` gives to users does what it says.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { until } from '../support/open-session.ts'

for (const { major, Redis } of majors) {
  describe(`faultyStore around redisStore, on ${major}`, () => {
    let server: RedisServer
    const clients = clientsOf(() => server, Redis)
    beforeAll(async () => {
      server = await startRedisServer()
    })
    afterAll(async () => {
      clients.end()
      await server.stop()
    })

    it('works as the store that it wraps, until it is told otherwise', async () => {
      const link = faultyStore(redisStore({ client: clients.make() }))
      const cache = createCache({ namespace: 'faulty', ttl: '1m', store: link })
      try {
        await until(() => cache.health().status === 'ok')
        await cache.set('k', 1)
        link.fail()
        await expect(cache.set('k', 2)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
        expect(await cache.getOrLoad('other', () => 3)).toBe(3)
        link.heal()
        await until(() => cache.health().status === 'ok')
      } finally {
        await cache.close()
      }
    })
  })
}
