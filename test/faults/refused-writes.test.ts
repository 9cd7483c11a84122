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

    it('T096 OOM: ten refused sets do not make hits unavailable', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      for (let n = 0; n < 50; n++) await b.getOrLoad(`there ${n}`, () => 'there')
      await b.idle()
      const opened: unknown[] = []
      a.on('breaker', (event) => opened.push(event))
      await refusals.OOM()
      for (let n = 0; n < 10; n++) {
        await expect(a.set(`k${n}`, n)).rejects.toMatchObject(unavailable)
        expect(await a.getOrLoad(`there ${n}`, () => 'not this')).toBe('there')
      }
      expect(opened).toEqual([])
    })

    it('T094 T099 READONLY that ends: the lost invalidation is made up for', async () => {
      const [a, b] = [make(), make()]
      await Promise.all([well(a), well(b)])
      await a.getOrLoad('k', () => 'old')
      await a.idle()
      expect(await b.getOrLoad('k', () => 'not this')).toBe('old')
      await refusals.READONLY()
      await expect(a.invalidate('k')).rejects.toMatchObject(unavailable)
      await admin.replicaof('NO', 'ONE')
      await reaches(a, { status: 'ok' })
      expect(await b.getOrLoad('k', () => 'new')).toBe('new')
    })

    const user = async (...rules: string[]) => {
      await admin.call('ACL', 'SETUSER', 'app', 'reset', 'on', '>pw', '~*', '&*', '+@all', ...rules)
      return clients.make({ username: 'app', password: 'pw' })
    }

    it('NOPERM on PUBLISH does not take the store away in the long run', async () => {
      const other = make()
      await well(other)
      await other.set('there', 'there')
      const cache = make({ memory: false }, await user('-publish'))
      await reaches(cache, { store: 'up' })
      const opened: unknown[] = []
      cache.on('breaker', (event) => opened.push(event))
      await sleep(11_000) // five beats
      expect(opened).toEqual([])
      expect(await cache.getOrLoad('there', () => 'not this')).toBe('there')
    })
  })
}
