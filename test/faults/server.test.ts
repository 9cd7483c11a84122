// A real Redis that is frozen, killed, restarted, started late, or cut off: reads go on.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'
import { timed, well } from '../support/well.ts'

/** Generous for a machine that others use too; what is told apart is 0.1 s and 1 s and more. */
const slackMs = 700

const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)

for (const { major, Redis } of majors) {
  describe(`a real server, on ${major}`, () => {
    let server: RedisServer
    const clients = clientsOf(() => server, Redis)
    const caches: Cache[] = []

    const make = (options: Partial<CacheOptions> = {}, client: TestClient = clients.make()) => {
      const store = redisStore({ client: client as never })
      const cache = createCache({ namespace: 'faults', ttl: '60s', store, ...options })
      caches.push(cache)
      return cache
    }

    beforeEach(async () => {
      unhandled.length = 0
      process.on('unhandledRejection', onUnhandled)
      server = await startRedisServer()
    })
    afterEach(async () => {
      server.thaw()
      await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
      clients.end()
      await server.stop()
      process.removeListener('unhandledRejection', onUnhandled)
      if (unhandled.length > 0) throw new Error(`unhandled: ${unhandled.map(String).join('; ')}`)
    })

    it('frozen: no read hangs, none fails, and all is well again within 5 s of the thaw', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      await a.getOrLoad('known', () => 'v1')
      server.freeze()
      const first = await timed(() => a.getOrLoad('first', () => 'first'))
      expect(first.value).toBe('first')
      expect(first.ms).toBeLessThan(100 + slackMs)
      const many = await timed(() =>
        Promise.all(Array.from({ length: 500 }, (_, n) => a.getOrLoad(`k${n}`, () => n))),
      )
      expect(many.value).toEqual(Array.from({ length: 500 }, (_, n) => n))
      expect(many.ms).toBeLessThan(slackMs)
      expect(a.health()).toMatchObject({ status: 'degraded', store: 'down' })
      const refused = await timed(() => a.invalidate('known').catch((error: unknown) => error))
      expect(refused.value).toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(refused.ms).toBeLessThan(100 + slackMs)
      expect(await a.getOrLoad('known', () => 'v2')).toBe('v2')
      server.thaw()
      await sleep(10)
      const thawedAt = performance.now()
      await Promise.all([well(a), well(b)])
      expect(performance.now() - thawedAt).toBeLessThan(5_000)
      expect(await b.getOrLoad('known', () => 'v2')).toBe('v2')
      expect(await a.getOrLoad('known', () => 'v2')).toBe('v2')
    })

    it('frozen while a load runs: its callers are answered, and the value is kept', async () => {
      const cache = make({ ttl: '60s', storeTimeout: '200ms' })
      await well(cache)
      let runs = 0
      const load = async () => {
        runs++
        await sleep(300)
        return 'value'
      }
      const caller = timed(() => cache.getOrLoad('k', load))
      await sleep(100)
      server.freeze()
      const { value, ms } = await caller
      expect(value).toBe('value')
      expect(ms).toBeLessThan(400 + slackMs)
      await cache.idle()
      expect(await cache.getOrLoad('k', load)).toBe('value')
      expect(runs).toBe(1)
    })

    it('killed and restarted empty: reads go on, and L2 is used again', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      await a.getOrLoad('k', () => 1)
      await server.kill()
      const during = await timed(() =>
        Promise.all([a.getOrLoad('k2', () => 2), b.getOrLoad('k2', () => 2)]),
      )
      expect(during.value).toEqual([2, 2])
      expect(during.ms).toBeLessThan(100 + slackMs)
      await expect(a.set('k3', 3)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(a.health()).toMatchObject({ status: 'degraded', store: 'down' })
      await server.restart()
      await Promise.all([well(a), well(b)])
      expect(await a.getOrLoad('after', () => 'a')).toBe('a')
      await a.idle()
      expect(await b.getOrLoad('after', () => 'b')).toBe('a')
    })

    it('T097 scripts that the server forgot are sent again, also in a batch', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      await Promise.all([a.set('k', 1), a.set('k2', 1), a.expire('none')])
      const admin = clients.make()
      await admin.script('FLUSH')
      await a.invalidateMany(['k', 'k2'])
      await admin.script('FLUSH')
      await Promise.all([a.set('k', 2), a.set('k2', 2)])
      await admin.script('FLUSH')
      expect(await b.getOrLoad('new', () => 3)).toBe(3)
      expect(await b.getOrLoad('k', () => 0)).toBe(2)
      expect(a.health().status).toBe('ok')
    })

    it('started late: reads wait for connectTimeout at most, once, then L2 is used', async () => {
      await server.kill()
      // The time begins when the cache is made.
      let cache!: Cache
      const first = await timed(() => {
        cache = make({ connectTimeout: '300ms' })
        return cache.getOrLoad('a', () => 1)
      })
      expect(first.value).toBe(1)
      expect(first.ms).toBeGreaterThanOrEqual(290)
      expect(first.ms).toBeLessThan(300 + slackMs)
      const second = await timed(() => cache.getOrLoad('b', () => 2))
      expect(second.ms).toBeLessThan(slackMs)
      expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
      await server.restart()
      await well(cache)
      await cache.getOrLoad('c', () => 3)
      await cache.idle()
      expect(await make().getOrLoad('c', () => 0)).toBe(3)
    })

    it('CLIENT PAUSE is a freeze that ends by itself', async () => {
      const cache = make()
      await well(cache)
      const admin = clients.make()
      await admin.call('CLIENT', 'PAUSE', '1500', 'ALL')
      const { value, ms } = await timed(() => cache.getOrLoad('k', () => 1))
      expect(value).toBe(1)
      expect(ms).toBeLessThan(100 + slackMs)
      await sleep(1_500)
      await well(cache)
    })

    it('T073 CLIENT KILL of the subscriber: what was held before is looked up again', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      const item = a.define({ name: 'item', load: async (_id: string) => 'old' })
      const inB = b.define({ name: 'item', load: async (_id: string) => 'new' })
      expect(await item.get('k')).toBe('old')
      await a.idle()
      const admin = clients.make()
      await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await inB.set('k', 'new')
      // At most 5 s deaf; well before that it hears again.
      const until_ = performance.now() + 5_000
      let seen = await item.get('k')
      while (seen !== 'new' && performance.now() < until_) {
        await sleep(50)
        seen = await item.get('k')
      }
      expect(seen).toBe('new')
      await well(a)
    })

    it('FLUSHALL during a load: the callers are answered, the next is loaded anew', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      let go!: () => void
      const gate = new Promise<void>((resolve) => (go = resolve))
      let runs = 0
      const load = async () => {
        runs++
        await gate
        return 'value'
      }
      const callers = [a.getOrLoad('k', load), b.getOrLoad('k', load)]
      await until(() => runs === 1)
      await clients.make().flushall()
      go()
      expect(await Promise.all(callers)).toEqual(['value', 'value'])
      expect(a.counters()['']!.fenced + b.counters()['']!.fenced).toBeGreaterThanOrEqual(1)
    })

    it('T087 leases that vanish cost a second load at most', async () => {
      const [a, b] = [make({ lease: '300ms' }), make({ lease: '300ms' })]
      await Promise.all([well(a), well(b)])
      const admin = clients.make()
      let runs = 0
      const load = async () => {
        runs++
        await sleep(400)
        return 'value'
      }
      const callers = [a.getOrLoad('k', load), b.getOrLoad('k', load)]
      await until(() => runs === 1)
      for (const key of await admin.keys('*:l')) await admin.del(key)
      expect(await Promise.all(callers)).toEqual(['value', 'value'])
      expect(runs).toBeLessThanOrEqual(2)
      expect(await a.getOrLoad('k', load)).toBe('value')
    })
  })
}
