// Agreement of tiers on a real Redis: clocks that differ, subscribers that are cut off, and other
// applications on the same server.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { realClock, sleep, until } from '../support/open-session.ts'
import { clientsOf } from '../support/ioredis-majors.ts'
import type { TestCache } from '../support/races.ts'

let server: RedisServer
const clients = clientsOf(() => server, Redis)
const caches: TestCache[] = []

beforeAll(async () => {
  server = await startRedisServer()
})
afterEach(async () => {
  await Promise.all(caches.splice(0).map((cache) => cache.close()))
  const admin = clients.make()
  await admin.flushall()
  clients.end()
})
afterAll(() => server.stop())

async function connect(
  options: Partial<CacheOptions> = {},
  client = clients.make(),
): Promise<TestCache> {
  const store = redisStore({ client })
  const cache = createCache({
    namespace: 'tiers',
    ttl: '60s',
    storeTimeout: '2s',
    store,
    ...options,
  })
  caches.push(cache)
  await until(() => cache.health().bus === 'up')
  return cache
}

const skewed = (ms: number): Partial<CacheOptions> => ({
  clock: { ...realClock, now: () => realClock.now() + ms },
})

/** The subscribers of all caches are cut off; they come back by themselves. */
async function cutOff(): Promise<void> {
  const admin = clients.make()
  await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
}

describe('clocks that differ', () => {
  it.each([-15 * 60_000, 15 * 60_000])(
    'T070 a process whose clock is %i ms off invalidates, and is invalidated, like any other',
    async (ms) => {
      const [right, wrong] = [await connect(), await connect(skewed(ms))]
      let version = 1
      const load = (): number => version
      expect([await right.getOrLoad('k', load), await wrong.getOrLoad('k', load)]).toEqual([1, 1])
      version = 2
      await wrong.invalidate('k')
      expect(await wrong.getOrLoad('k', load)).toBe(2)
      await expect.poll(() => right.getOrLoad('k', load)).toBe(2)
      version = 3
      await right.invalidate('k')
      await expect.poll(() => wrong.getOrLoad('k', load)).toBe(3)
      await wrong.set('k', 4)
      await expect.poll(() => right.getOrLoad('k', load)).toBe(4)
    },
  )

  it.each([-15 * 60_000, 15 * 60_000])(
    'T048 T051 what a process whose clock is %i ms off has filled lives as long as any other entry',
    async (ms) => {
      const [right, wrong] = [await connect(), await connect(skewed(ms))]
      let runs = 0
      const load = (): number => ++runs
      const short = { ttl: '1500ms', jitter: 0, earlyRefresh: false } as const
      const begun = realClock.now()
      expect(await wrong.getOrLoad('k', load, short)).toBe(1)
      expect(await right.getOrLoad('k', load, short)).toBe(1)
      expect(realClock.now() - begun, 'a machine quick enough for this test').toBeLessThan(1_400)
      await sleep(1_700)
      expect(await wrong.getOrLoad('k', load, short)).toBe(2)
      expect(await right.getOrLoad('k', load, short)).toBe(2)
    },
  )
})

describe('T073 T076 subscribers that are cut off', () => {
  it('come back by themselves, and what was missed meanwhile is not served', async () => {
    const [a, b] = [await connect(), await connect()]
    let version = 1
    const load = (): number => version
    expect([await a.getOrLoad('k', load), await b.getOrLoad('k', load)]).toEqual([1, 1])
    const states: string[] = []
    a.on('bus', ({ state }) => states.push(state))
    await cutOff()
    version = 2
    await b.invalidate('k')
    await expect.poll(() => a.health().bus, { timeout: 10_000 }).toBe('up')
    await until(() => states.includes('up'))
    expect(await a.getOrLoad('k', load)).toBe(2)
    expect(states).toEqual(['silent', 'up'])
    version = 3
    await b.invalidate('k')
    await expect.poll(() => a.getOrLoad('k', load)).toBe(3)
  })

  it('T076 a subscriber of the user’s that several caches share serves each its own messages', async () => {
    const bus = clients.make()
    const client = clients.make()
    const make = async (namespace: string): Promise<TestCache> => {
      const store = redisStore({ client, bus })
      const cache = createCache({ namespace, ttl: '60s', storeTimeout: '2s', store })
      caches.push(cache)
      await until(() => cache.health().bus === 'up')
      return cache
    }
    const [one, same, two] = [await make('one'), await make('one'), await make('two')]
    let version = 1
    const load = (): number => version
    for (const cache of [one, same, two]) expect(await cache.getOrLoad('k', load)).toBe(1)
    version = 2
    await one.invalidate('k')
    await expect.poll(() => same.getOrLoad('k', load)).toBe(2)
    expect(await two.getOrLoad('k', load)).toBe(1)
    expect(two.counters()['']).toMatchObject({ hitMemory: 1, hitStore: 0 })
    await same.close()
    version = 3
    const other = await make('one')
    await other.invalidate('k')
    await expect.poll(() => one.getOrLoad('k', load)).toBe(3)
  })
})

describe('other applications on the server', () => {
  it('with another key prefix or database keep their entries, leases and memory', async () => {
    const plain = await connect()
    const prefixed = await connect({}, clients.make({ keyPrefix: 'app:' }))
    const second = await connect({}, clients.make({ db: 1 }))
    const all = [plain, prefixed, second]
    const load = async (n: number): Promise<number> => {
      await sleep(50)
      return n
    }
    const first = await Promise.all(all.map((cache, n) => cache.getOrLoad('k', () => load(n))))
    expect(first).toEqual([0, 1, 2])
    await plain.invalidate('k')
    await plain.set('k', 9)
    await sleep(100)
    const again = await Promise.all(all.map((cache) => cache.getOrLoad('k', () => -1)))
    expect(again).toEqual([9, 1, 2])
    expect(prefixed.counters()['']).toMatchObject({ hitMemory: 1 })
    expect(second.counters()['']).toMatchObject({ hitMemory: 1 })
  })

  it('on the same database hear each other on every client', async () => {
    const shared = clients.make({ keyPrefix: 'app:' })
    const [a, b] = [await connect({}, shared), await connect({}, shared)]
    const c = await connect({}, clients.make({ keyPrefix: 'app:' }))
    let version = 1
    const load = (): number => version
    for (const cache of [a, b, c]) expect(await cache.getOrLoad('k', load)).toBe(1)
    version = 2
    await a.invalidate('k')
    for (const cache of [b, c, a]) await expect.poll(() => cache.getOrLoad('k', load)).toBe(2)
  })
})
