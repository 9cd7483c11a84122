// Whatever the user has set on the client, an outage costs a read one deadline and fails none, and
// the client stays the user's.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep } from '../support/open-session.ts'
import { well } from '../support/well.ts'

const slackMs = 700

const settings = {
  'as it comes': {},
  'without an offline queue': { enableOfflineQueue: false },
  'that retries for ever': { maxRetriesPerRequest: null, retryStrategy: () => 50 },
  'that retries never': { maxRetriesPerRequest: 0 },
  'that does not reconnect quickly': { retryStrategy: () => 400 },
  'that connects when asked': { lazyConnect: true },
  'without ready check': { enableReadyCheck: false },
  'with a key prefix': { keyPrefix: 'pre{x}:' },
  'on database 3': { db: 3 },
  'with auto-pipelining': { enableAutoPipelining: true },
  'with numbers as text': { stringNumbers: true },
  'that resends nothing': { autoResendUnfulfilledCommands: false },
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
        // What is set is in the source as well: after a restart changes of before are repeated, and one
        // of them may take away what was set since, which is then loaded.
        let written: number | undefined
        const load = async () => {
          await sleep(20)
          return written ?? ++runs
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
        // A is well once the server has taken its change; B hears of it by a connection of its own.
        while ((await b.getOrLoad('k', load)) === 1) await sleep(5)
        expect(await b.getOrLoad('k', load)).toBe(2)

        await server.kill()
        expect(await read('killed')).toBeLessThan(100 + slackMs)
        await expect(a.set('k', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
        await server.restart()
        await Promise.all([well(a), well(b)])
        written = 10
        await a.set('k', 10)
        // B may still be without its subscription, for 5 s at most; and what it has loaded by itself,
        // because a client's own timeout lost a read, it keeps for `outageTtl`, which is 5 s more.
        const seen = { value: 0 }
        const deafUntil = performance.now() + 10_000 + slackMs
        while (seen.value !== 10 && performance.now() < deafUntil) {
          seen.value = await b.getOrLoad('k', load)
          await sleep(20)
        }
        expect(seen.value).toBe(10)
        expect(clientA.status).toBe('ready')
      },
    )

    it('T090 nothing is parked on a client that waits for its server', async () => {
      await server.restart()
      const client = clients.make({ maxRetriesPerRequest: null, retryStrategy: () => 50 })
      const cache = make(client)
      await well(cache)
      await server.kill()
      for (let n = 0; n < 3_000; n++) await cache.getOrLoad(`k${n}`, () => n)
      for (let n = 0; n < 100; n++) await cache.invalidate(`k${n}`).catch(() => {})
      await sleep(300)
      const queues = client as unknown as Record<
        'offlineQueue' | 'commandQueue',
        { length: number }
      >
      expect(queues.offlineQueue.length + queues.commandQueue.length).toBeLessThan(20)
      await server.restart()
      await well(cache)
    })

    it('T157 has as many listeners as there are caches, and none after close', async () => {
      await server.restart()
      const client = clients.make()
      const names = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
      const before = names()
      const made = Array.from({ length: 5 }, () => make(client))
      await well(...made)
      for (let n = 0; n < 200; n++) await made[n % 5]!.getOrLoad(`k${n}`, () => n)
      await Promise.all(Array.from({ length: 50 }, (_, n) => made[0]!.invalidate(`k${n}`)))
      const most = Math.max(...names().map(([, count]) => count as number))
      expect(most).toBeLessThanOrEqual(5 + 2)
      await Promise.all(made.map((cache) => cache.close()))
      expect(names()).toEqual(before)
      expect(await client.ping()).toBe('PONG')
    })

    it('T160 close leaves the client open, and ends our own connection', async () => {
      await server.restart()
      const client = clients.make()
      const cache = make(client)
      await well(cache)
      const list = async () => {
        const all = ((await client.client('LIST')) as string).trim().split('\n')
        // The one that keeps a log of commands is nobody's.
        return all.filter((line) => !line.includes(' cmd=monitor ')).length
      }
      expect(await list()).toBe(2)
      await cache.close()
      await cache.close()
      let left = 2
      for (let turn = 0; turn < 50 && left > 1; turn++) {
        await sleep(20)
        left = await list()
      }
      expect(left).toBe(1)
      expect(client.status).toBe('ready')
    })

    it('that the user has ended already: reads are loaded, nothing hangs', async () => {
      await server.restart()
      const client = clients.make()
      await client.ping()
      client.disconnect()
      const cache = make(client)
      expect(await cache.getOrLoad('k', () => 1)).toBe(1)
      const from = performance.now()
      expect(await cache.getOrLoad('k2', () => 2)).toBe(2)
      expect(performance.now() - from).toBeLessThan(slackMs)
      await expect(cache.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    })

    it('T093 a bus of ours that loses its server ends nobody, and comes back', async () => {
      await server.restart()
      const client = clients.make()
      const cache = make(client)
      await well(cache)
      const told: unknown[] = []
      cache.on('storeFailed', (event) => told.push(event))
      await server.kill()
      await sleep(500)
      await server.restart()
      await well(cache)
      expect(told.length).toBeGreaterThan(0)
    })
  })
}
