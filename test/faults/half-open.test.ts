// The network between us and Redis, through a proxy: slow, cut without a word, reset, throttled.

import { startRedisServer, type RedisServer, startTcpProxy, type TcpProxy } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep } from '../support/open-session.ts'
import { timed, well } from '../support/well.ts'

const slackMs = 700

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

    it('latency under the deadline is latency, and nothing else', async () => {
      proxy.latency(30)
      const [a, b] = [make({ storeTimeout: '2s' }), make({ storeTimeout: '2s' })]
      await Promise.all([well(a), well(b)])
      let runs = 0
      const load = async () => ++runs
      expect(await Promise.all([a.getOrLoad('k', load), b.getOrLoad('k', load)])).toEqual([1, 1])
      expect(runs).toBe(1)
      expect([a.health().status, b.health().status]).toEqual(['ok', 'ok'])
    })

    it('latency over the deadline: no read waits for long, none fails', async () => {
      const cache = make()
      await well(cache)
      proxy.latency(1_000)
      for (let n = 0; n < 5; n++) {
        const { value, ms } = await timed(() => cache.getOrLoad(`k${n}`, () => n))
        expect(value).toBe(n)
        expect(ms).toBeLessThan(100 + slackMs)
      }
      expect(cache.health().store).toBe('down')
      proxy.latency(0)
      await well(cache)
    })

    it('T091 cut without a word: one deadline, then nothing is paid', async () => {
      const cache = make()
      await well(cache)
      proxy.severSilently()
      const first = await timed(() => cache.getOrLoad('a', () => 1))
      expect(first).toMatchObject({ value: 1 })
      expect(first.ms).toBeLessThan(100 + slackMs)
      const rest = await timed(() =>
        Promise.all(Array.from({ length: 200 }, (_, n) => cache.getOrLoad(`k${n}`, () => n))),
      )
      expect(rest.ms).toBeLessThan(slackMs)
    })

    it('reset: the next read pays nothing, and all is well again soon', async () => {
      const cache = make()
      await well(cache)
      proxy.reset()
      const { value, ms } = await timed(() => cache.getOrLoad('a', () => 1))
      expect(value).toBe(1)
      expect(ms).toBeLessThan(100 + slackMs)
      await well(cache)
    })

    it('a server that accepts and says nothing is as one that is not there', async () => {
      proxy.blackhole(true)
      const cache = make({ connectTimeout: '300ms' })
      const { value, ms } = await timed(() => cache.getOrLoad('a', () => 1))
      expect(value).toBe(1)
      expect(ms).toBeLessThan(300 + slackMs)
      expect((await timed(() => cache.getOrLoad('b', () => 2))).ms).toBeLessThan(slackMs)
    })

    it('a pause of this process is not taken for a pause of the store', async () => {
      const cache = make({}, clients.make()) // the proxy would pause with us
      await well(cache)
      const opened: unknown[] = []
      cache.on('breaker', (event) => opened.push(event))
      const callers = Promise.all(
        Array.from({ length: 20 }, (_, n) => cache.getOrLoad(`k${n}`, () => n)),
      )
      await new Promise((resolve) => setImmediate(resolve))
      const until_ = performance.now() + 400
      while (performance.now() < until_);
      await callers
      await sleep(150)
      expect(opened).toEqual([])
    })
  })
}
