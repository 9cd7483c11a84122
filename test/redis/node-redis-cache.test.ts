// Whole caches by node-redis: one load however many ask, waiters woken by a push, changes heard by
// everyone; and a script with a cache ends by itself.

import { startRedisServer, type RedisServer, startTcpProxy, type TcpProxy } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/node-redis.ts'
import { usualFlavours, nodeRedisClients } from '../support/node-redis-clients.ts'
import { runScript, type End } from '../support/node-redis-script.ts'
import { sleep, until } from '../support/open-session.ts'

const nowhere = { host: '127.0.0.1', port: 9 }

describe.each(usualFlavours)('a cache, $flavour', (flavour) => {
  let server: RedisServer
  let proxy: TcpProxy
  const clients = nodeRedisClients(flavour)
  const caches: Cache[] = []
  const make = async (count: number) => {
    const made = Array.from({ length: count }, () =>
      createCache({
        namespace: 'herd',
        ttl: '60s',
        store: redisStore({ client: clients.make(server) }),
      }),
    )
    caches.push(...made)
    await until(() => made.every((cache) => cache.health().status === 'ok'))
    return made as [Cache, Cache, Cache]
  }

  beforeAll(async () => {
    server = await startRedisServer()
    proxy = await startTcpProxy(server.connection as { host: string; port: number })
  })
  afterEach(async () => {
    server.thaw()
    await Promise.all(caches.splice(0).map((cache) => cache.close()))
    clients.end()
    await server.ask('FLUSHALL')
  })
  afterAll(async () => {
    await proxy.close()
    await server.stop()
  })

  it('a cold herd runs one load; who waits is told, and does not ask again and again', async () => {
    const all = await make(3)
    let runs = 0
    let end = (): void => {}
    const ended = new Promise<void>((resolve) => (end = resolve))
    const load = async () => {
      runs++
      await ended
      return runs
    }
    const callers = all.flatMap((cache) =>
      Array.from({ length: 100 }, () => cache.getOrLoad('cold', load)),
    )
    await until(() => runs === 1)
    await sleep(200)
    await server.ask('CONFIG', 'RESETSTAT')
    await sleep(400)
    const stats = String(await server.ask('INFO', 'commandstats'))
    const calls = Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1] ?? 0)
    end()
    expect(new Set(await Promise.all(callers))).toEqual(new Set([1]))
    // By chance a beat of each in that time; who polls would have asked more often.
    expect(calls).toBeLessThanOrEqual(3)
    expect(runs).toBe(1)
    const loads = all.map((cache) => cache.counters()['']!.loads)
    expect(loads.toSorted((one, two) => one - two)).toEqual([0, 0, 1])
  })

  it('a change is heard by everyone, and the memory of none outlives it', async () => {
    const all = await make(3)
    const [a, b] = all
    let source = 'old'
    const load = async () => source
    for (const cache of all) expect(await cache.getOrLoad('k', load)).toBe('old')
    source = 'new'
    await b.invalidate('k')
    expect(await b.getOrLoad('k', load)).toBe('new')
    const seen = async () => Promise.all(all.map((cache) => cache.getOrLoad('k', load)))
    for (let n = 0; n < 100 && (await seen()).includes('old'); n++) await sleep(10)
    expect(await seen()).toEqual(['new', 'new', 'new'])
    await a.set('k', 'set')
    for (let n = 0; n < 100 && (await seen()).includes('new'); n++) await sleep(10)
    expect(await seen()).toEqual(['set', 'set', 'set'])
  })

  const run = (socket: object, close: boolean) =>
    runScript(flavour, {
      create: 'createClient',
      options: { socket: { ...socket, reconnectStrategy: 50 } },
      close,
    })

  describe.each([true, false])('T159 a script whose cache is closed: %s', (close) => {
    const expectEnded = (end: End): void => {
      expect(end).toMatchObject({ code: 0, output: 'done\n' })
      expect(end.lingeredMs).toBeLessThan(5_000)
    }
    it('ends by itself', async () => expectEnded(await run(server.connection, close)))
    it('ends by itself when its Redis is not there', async () =>
      expectEnded(await run(nowhere, close)))
    it('ends by itself when its Redis accepts and says nothing', async () => {
      proxy.blackhole(true)
      expectEnded(await run(proxy.connection, close))
    })
    it('ends by itself when its Redis is frozen', async () => {
      server.freeze()
      expectEnded(await run(server.connection, close))
    })
  })
})
