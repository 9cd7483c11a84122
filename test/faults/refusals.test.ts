// A server that answers and refuses: out of memory, a replica, no permission, no password, other
// data under our keys. What needs no write works; what loads works; explicit writes tell.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'

const unavailable = { code: 'STORE_UNAVAILABLE' }

for (const { major, Redis } of majors) {
  describe(`a server that refuses, on ${major}`, () => {
    let server: RedisServer
    let admin: TestClient
    const clients = clientsOf(() => server, Redis)
    const caches: Cache[] = []

    const make = (options: Partial<CacheOptions> = {}, client: TestClient = clients.make()) => {
      const store = redisStore({ client: client as never })
      const cache = createCache({ namespace: 'refused', ttl: '60s', store, ...options })
      caches.push(cache)
      return cache
    }
    const reaches = (cache: Cache, part: object) =>
      until(
        () =>
          Object.entries(part).every(([name, value]) => cache.health()[name as 'bus'] === value),
        () => JSON.stringify(cache.health()),
      )
    const well = (cache: Cache) => reaches(cache, { status: 'ok' })

    beforeAll(async () => {
      server = await startRedisServer()
    })
    beforeEach(async () => {
      admin = clients.make()
      await admin.flushall()
    })
    afterEach(async () => {
      await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
      clients.end()
      const cleaner = clients.make()
      await cleaner.config('SET', 'maxmemory', '0')
      await cleaner.config('SET', 'min-replicas-to-write', '0')
      await cleaner.replicaof('NO', 'ONE')
      clients.end()
    })
    afterAll(() => server.stop())

    const refusals = {
      OOM: () => admin.config('SET', 'maxmemory', '1'),
      READONLY: () => admin.replicaof('no-such-host.invalid', '1'),
      NOREPLICAS: () => admin.config('SET', 'min-replicas-to-write', '1'),
    }

    it.each(['OOM', 'READONLY', 'NOREPLICAS'] as const)(
      'T096 T094 %s: hits are served, loads answered and kept for a while, writes reject',
      async (refusal) => {
        const [a, b] = [make(), make()]
        await Promise.all([well(a), well(b)])
        await a.getOrLoad('there', () => 'there')
        await a.idle()
        await refusals[refusal]()
        expect(await b.getOrLoad('there', () => 'not this')).toBe('there')
        let runs = 0
        for (let n = 0; n < 3; n++) expect(await a.getOrLoad('k', () => ++runs)).toBe(1)
        expect(a.counters()['']).toMatchObject({ unleasedNolease: 1, leases: 1 })
        await expect(a.set('written', 1)).rejects.toMatchObject(unavailable)
        expect(await a.getOrLoad('written', () => 2)).toBe(1)
        if (refusal !== 'OOM') {
          await expect(a.invalidate('there')).rejects.toMatchObject(unavailable)
          await expect(a.expire('there')).rejects.toMatchObject(unavailable)
        }
        expect(a.health().status).toBe('degraded')
      },
    )

    const user = async (...rules: string[]) => {
      await admin.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '~*', '&*', '+@all', ...rules)
      return clients.make({ username: 'app', password: 'pw' })
    }

    it.each([
      ['no PUBLISH', ['-publish'], 'served'],
      ['no SUBSCRIBE', ['-subscribe'], 'served'],
      ['no INFO', ['-info'], 'served'],
      ['no channels', ['resetchannels'], 'served'],
      ['no writes', ['-@write'], 'served'],
      // Whether a tag of them has changed cannot be asked: nothing is served unchecked.
      ['no scripts', ['-evalsha', '-eval'], 'loaded'],
      ['GET alone', ['-@all', '+get', '+info', '+time'], 'loaded'],
    ] as const)('NOPERM, %s: and what becomes of values that are there', async (_, rules, how) => {
      const other = make()
      await well(other)
      for (let n = 0; n < 40; n++) await other.getOrLoad(`there ${n}`, () => 'there')
      await other.idle()
      const cache = make({ memory: false }, await user(...rules))
      await reaches(cache, { store: 'up' })
      const from = performance.now()
      let n = 0
      for (; performance.now() < from + 1_000; n = (n + 1) % 40) {
        const expected = how === 'served' ? 'there' : 'loaded'
        expect(await cache.getOrLoad(`there ${n}`, () => 'loaded')).toBe(expected)
        expect(await cache.getOrLoad(`missing ${n}`, () => 'loaded')).toBe('loaded')
        await sleep(50)
      }
      expect(cache.health().store).toBe('up')
    })

    it('NOAUTH: every read is loaded, and nothing hangs', async () => {
      await admin.config('SET', 'requirepass', 'secret')
      try {
        const client = clients.make({ enableReadyCheck: false })
        const cache = make({ connectTimeout: '500ms' }, client)
        for (let n = 0; n < 10; n++) expect(await cache.getOrLoad(`k${n}`, () => n)).toBe(n)
        await expect(cache.set('k', 1)).rejects.toMatchObject(unavailable)
        await reaches(cache, { store: 'down' })
      } finally {
        await admin.config('SET', 'requirepass', '')
      }
    })

    it.each(['string', 'list', 'hash', 'zset', 'stream'])(
      'T118 a foreign %s under our keys is a miss, and is overwritten',
      async (type) => {
        const [a, b] = [make(), make()]
        await Promise.all([well(a), well(b)])
        await a.set('k', 1)
        const [frame] = await admin.keys('bw:refused:*:v')
        const lease = `${frame!.slice(0, -1)}l`
        for (const key of [frame!, lease]) {
          await admin.del(key)
          if (type === 'string') await admin.set(key, 'hello')
          if (type === 'list') await admin.rpush(key, 'hello')
          if (type === 'hash') await admin.hset(key, 'a', 'b')
          if (type === 'zset') await admin.zadd(key, 1, 'b')
          if (type === 'stream') await admin.xadd(key, '*', 'a', 'b')
        }
        expect(await b.peek('k')).toEqual({ state: 'missing' })
        expect(await b.getOrLoad('k', () => 2)).toBe(2)
        await b.idle()
        expect(await make().getOrLoad('k', () => 3)).toBe(2)
        await admin.del(frame!)
        await admin.rpush(frame!, 'hello')
        await a.invalidate('k')
        expect(await admin.exists(frame!, lease)).toBe(0)
        await admin.rpush(frame!, 'hello')
        await a.set('k', 4)
        expect(await b.getOrLoad('k', () => 5)).toBe(4)
      },
    )

    it('T087 a lease that has no expiry, whoever made it, wedges nothing', async () => {
      const cache = make()
      await well(cache)
      await cache.set('k', 1)
      const [frame] = await admin.keys('bw:refused:*:v')
      await admin.set(`${frame!.slice(0, -1)}l`, 'bw1 somebody 0 - 0 0 ')
      await admin.del(frame!)
      await admin.publish('bw:refused:0:', 'garbage')
      const other = make()
      expect(await other.getOrLoad('k', () => 2)).toBe(2)
    })
  })
}
