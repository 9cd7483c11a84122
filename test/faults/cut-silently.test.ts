// The network between us and Redis, through a proxy: slow, cut without a word, reset, throttled.

import { startRedisServer, type RedisServer, startTcpProxy, type TcpProxy } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'
import { timed, well } from '../support/well.ts'

for (const { major, Redis } of majors) {
  describe(`the network, on ${major}`, () => {
    let server: RedisServer
    let proxy: TcpProxy
    const clients = clientsOf(() => server, Redis)
    const caches: Cache[] = []

    const make = (
      options: Partial<CacheOptions> = {},
      client: TestClient = clients.make(proxy.connection),
    ) => {
      const cache = createCache({
        namespace: 'net',
        ttl: '60s',
        store: redisStore({ client: client as never }),
        ...options,
      })
      caches.push(cache)
      return cache
    }

    beforeAll(async () => {
      server = await startRedisServer()
    })
    beforeEach(async () => {
      proxy = await startTcpProxy(server.connection as { host: string; port: number })
    })
    afterEach(async () => {
      await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
      clients.end()
      await proxy.close()
    })
    afterAll(() => server.stop())

    it('T091 a connection that is cut without a word is given up when a new one would work', async () => {
      const cache = make()
      await well(cache)
      proxy.severSilently()
      await cache.getOrLoad('a', () => 1)
      await well(cache)
    })

    it('T073 a subscriber that is cut without a word is replaced', async () => {
      const cache = make()
      await well(cache)
      proxy.severSilently((sent) => /subscribe/i.test(sent))
      await until(() => cache.health().bus === 'silent')
      await well(cache)
    })

    it('a big reply that takes longer than the deadline fails only itself', async () => {
      const big = 'x'.repeat(2_000_000)
      await createOne(big)
      const cache = make({ memory: false })
      await well(cache)
      const opened: unknown[] = []
      cache.on('breaker', (event) => opened.push(event))
      proxy.throttle(8_000_000)
      const { value } = await timed(() => cache.getOrLoad('big', () => 'own'))
      expect([big, 'own']).toContain(value)
      await sleep(400)
      expect(opened).toEqual([])
    })

    async function createOne(value: string): Promise<void> {
      const cache = createCache({
        namespace: 'net',
        ttl: '60s',
        storeTimeout: '5s',
        store: redisStore({ client: clients.make() as never }),
      })
      await well(cache)
      await cache.set('big', value)
      await cache.close()
    }
  })
}
