// Whatever the user has set on the client, an outage costs a read one deadline and fails none, and
// the client stays the user's.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'

const slackMs = 700

const settings = {
  'with a command timeout': { commandTimeout: 20 },
} as const

for (const { major, Redis } of majors) {
  describe(`a client of ${major}`, () => {
    let server: RedisServer
    const clients = clientsOf(() => server, Redis)
    const caches: Cache[] = []
    const unhandled: unknown[] = []
    const onUnhandled = (error: unknown): void => void unhandled.push(error)

    const make = (client: TestClient) => {
      const store = redisStore({ client: client as never })
      const cache = createCache({ namespace: 'clients', ttl: '60s', store, connectTimeout: '1s' })
      caches.push(cache)
      return cache
    }
    const well = (cache: Cache) =>
      until(
        () => cache.health().status === 'ok',
        () => JSON.stringify(cache.health()),
      )

    beforeAll(async () => {
      server = await startRedisServer()
    })
    beforeEach(() => {
      unhandled.length = 0
      process.on('unhandledRejection', onUnhandled)
    })
    afterEach(async () => {
      server.thaw()
      await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
      clients.end()
      process.removeListener('unhandledRejection', onUnhandled)
      if (unhandled.length > 0) throw new Error(`unhandled: ${unhandled.map(String).join('; ')}`)
    })
    afterAll(() => server.stop())

    it.each(Object.entries(settings))(
      '%s: frozen, thawed, killed, restarted',
      async (_, options) => {
        await server.restart()
        const clientA = clients.make(options)
        const [a, b] = [make(clientA), make(clients.make(options))]
        await Promise.all([well(a), well(b)])
        let runs = 0
        const load = async () => {
          await sleep(20)
          return ++runs
        }
        expect(await Promise.all([a.getOrLoad('k', load), b.getOrLoad('k', load)])).toEqual([1, 1])
        const read = async (key: string): Promise<number> => {
          const from = performance.now()
          expect(await a.getOrLoad(key, () => key)).toBe(key)
          return performance.now() - from
        }

        server.freeze()
        expect(await read('frozen')).toBeLessThan(100 + slackMs)
        expect(await read('frozen too')).toBeLessThan(slackMs)
        await expect(a.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
        server.thaw()
        await Promise.all([well(a), well(b)])
        expect(await b.getOrLoad('k', load)).toBe(2)

        await server.kill()
        expect(await read('killed')).toBeLessThan(100 + slackMs)
        await expect(a.set('k', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
        await server.restart()
        await Promise.all([well(a), well(b)])
        await a.set('k', 10)
        // B may still be without its subscription, for 5 s at most.
        const seen = { value: 0 }
        const deafUntil = performance.now() + 5_000
        while (seen.value !== 10 && performance.now() < deafUntil) {
          seen.value = await b.getOrLoad('k', load)
          await sleep(20)
        }
        expect(seen.value).toBe(10)
        expect(clientA.status).toBe('ready')
      },
    )
  })
}
