// T160: a real process that gets SIGTERM in the middle of its work, and does what docs/reliability.md
// says: it answers who asked, gives its leases back, and ends by itself within its bound.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { startEnding, type Plan } from '../support/ending-process.ts'
import { clientsOf, newestMajor } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'
import { controlled } from '../support/two-processes.ts'

const drainMs = 3_000
const closeMs = 500
/** With what ioredis takes to end a connection that does not answer, and for a busy machine. */
const mostMs = drainMs + closeMs + 100 + 2_000 + 1_500

const libraries = ['ioredis', 'node-redis'] as const

describe.concurrent.each(libraries)('SIGTERM, with %s', { timeout: 30_000 }, (library) => {
  let shared: RedisServer
  let spaces = 0
  beforeAll(async () => {
    shared = await startRedisServer()
  })
  afterAll(() => shared.stop())

  /** One process that is to end, and what Redis has of it. */
  const on = (server: RedisServer, how: Partial<Plan> = {}) => {
    const namespace = `ends-${spaces++}`
    // A machine that is busy is no outage.
    const bounds = { drainMs, closeMs, storeTimeout: 3_000 }
    const plan = { library, namespace, loadMs: 400, ...bounds, ...how }
    const keys = async (end: 'l' | 'v') =>
      (await server.ask('KEYS', `bw:${namespace}:*:${end}`)) as string[]
    return { namespace, keys, start: () => startEnding(server, plan) }
  }

  /** Another process that loads `a`, as it were, and when somebody waits for it. */
  const another = async ({ namespace, keys }: ReturnType<typeof on>) => {
    const clients = clientsOf(() => shared, newestMajor[0]!.Redis)
    const cache = createCache({
      namespace,
      ttl: '1h',
      storeTimeout: '3s',
      store: redisStore({ client: clients.make() }),
    })
    await until(() => cache.health().status === 'ok')
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const value = item.get('a')
    await until(() => loader.runs === 1)
    const awaited = async () => {
      for (let turn = 0; turn < 500; turn++) {
        const [lease = ''] = await keys('l')
        if (/^bw1 \S+ [1-9]/.test(String(await shared.ask('GET', lease)))) return
        await sleep(10)
      }
      throw new Error('expected somebody to wait within 5 s')
    }
    const close = async () => {
      await cache.close()
      clients.end()
    }
    return { value, loader, awaited, close }
  }

  it('in the middle of loads: all are answered and published', async () => {
    const { keys, start } = on(shared)
    const told = await start()
    const asked = ['a', 'b', 'a'].map((id) => told.get(id))
    await Promise.all([told.said('load a'), told.said('load b')])
    const { code, ms } = await told.end()
    expect(await Promise.all(asked)).toEqual(['200 value a', '200 value b', '200 value a'])
    expect(code).toBe(0)
    // Well before the bound.
    expect(ms).toBeLessThan(drainMs)
    expect([await keys('l'), (await keys('v')).length]).toEqual([[], 2])
  })

  it('in the middle of loads that never end: CLOSED at the bound, and the leases are free', async () => {
    const { keys, start } = on(shared, { loadMs: null, drainMs: 200 })
    const told = await start()
    const asked = ['a', 'b'].map((id) => told.get(id))
    await Promise.all([told.said('load a'), told.said('load b')])
    expect(await keys('l')).toHaveLength(2)
    const { code, ms } = await told.end()
    expect(await Promise.all(asked)).toEqual(['503 CLOSED', '503 CLOSED'])
    expect(code).toBe(0)
    expect(ms).toBeLessThan(mostMs)
    expect([await keys('l'), await keys('v')]).toEqual([[], []])
  })

  it.each(['freeze', 'kill'] as const)(
    'in the middle of an outage (%s): answered all the same, and the lease ends by itself',
    async (how) => {
      const server = await startRedisServer()
      try {
        const { keys, start } = on(server, { storeTimeout: 100 })
        const told = await start()
        const asked = ['a', 'b', 'a'].map((id) => told.get(id))
        await Promise.all([told.said('load a'), told.said('load b')])
        await server[how]()
        const { code, ms } = await told.end()
        expect(await Promise.all(asked)).toEqual(['200 value a', '200 value b', '200 value a'])
        expect(code).toBe(0)
        expect(ms).toBeLessThan(mostMs)
        if (how === 'kill') return
        server.thaw()
        // Or the publish that lay there has landed, and has ended it.
        for (const key of await keys('l')) {
          const left = Number(await server.ask('PTTL', key))
          // Not there any more: -2.
          expect(left).not.toBe(-1)
          expect(left).toBeLessThanOrEqual(3_000)
        }
      } finally {
        await server.stop()
      }
    },
  )

  it('while it waits for another process: it gets that one’s value, and loads nothing', async () => {
    const here = on(shared)
    const { value, loader, awaited, close } = await another(here)
    const told = await here.start()
    const asked = told.get('a')
    await awaited()
    const ended = told.end()
    await sleep(100)
    loader.end('theirs')
    expect([await value, await asked]).toEqual(['theirs', '200 theirs'])
    expect(await ended).toMatchObject({ code: 0 })
    expect(told.output).not.toContain('load')
    await close()
  })

  it('while it waits for one that takes longer: CLOSED at the bound, and that one keeps its lease', async () => {
    const here = on(shared, { drainMs: 100 })
    const { value, loader, awaited, close } = await another(here)
    const told = await here.start()
    const asked = told.get('a')
    await awaited()
    const { code, ms } = await told.end()
    expect(await asked).toBe('503 CLOSED')
    expect(code).toBe(0)
    expect(ms).toBeLessThan(mostMs)
    expect(told.output).not.toContain('load')
    expect(await here.keys('l')).toHaveLength(1)
    loader.end('theirs')
    expect(await value).toBe('theirs')
    await close()
    expect(await here.keys('v')).toHaveLength(1)
  })
})
