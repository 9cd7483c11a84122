// A whole cache by node-redis on a server that fails in every way, whatever is set on the client:
// an outage costs a read one deadline and fails none, and the client stays the user's.

import { startRedisServer, type RedisServer, startTcpProxy } from '@breakwater/rig'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/node-redis.ts'
import { usualFlavours, nodeRedisClients, type TestClient } from '../support/node-redis-clients.ts'
import { sleep, until } from '../support/open-session.ts'
import { timed, well } from '../support/well.ts'

/** Generous for a machine that others use too; what is told apart is 0.1 s and 1 s and more. */
const slackMs = 700

const settings: Record<string, object> = {
  'as it comes': {},
  'without an offline queue': { disableOfflineQueue: true },
  'that retries every 50 ms': { socket: { reconnectStrategy: 50 } },
  'that does not reconnect quickly': { socket: { reconnectStrategy: 400 } },
  'with a short queue': { commandsQueueMaxLength: 200 },
  'on database 3': { database: 3 },
  'with a command timeout': { commandOptions: { timeout: 20 } },
  'with pings': { pingInterval: 50 },
}
const atResp3 = { 'with a client-side cache': { clientSideCache: { ttl: 0 } } }
const at6 = { 'with a key prefix': { keyPrefix: 'pre{x}:' } }

describe.each(usualFlavours)('a faulty server, $flavour', (flavour) => {
  let server: RedisServer
  const clients = nodeRedisClients(flavour)
  const caches: Cache[] = []
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)

  const make = (client: TestClient = clients.make(server), options: Partial<CacheOptions> = {}) => {
    const store = redisStore({ client })
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

  // Of the other protocol only what it may change.
  const all = {
    ...(flavour.isUsual ? settings : { 'as it comes': {} }),
    ...(flavour.RESP === 3 && atResp3),
    ...(flavour.major === 6 && at6),
  }
  it.each(Object.entries(all))(
    'a client %s: frozen, thawed, killed, restarted',
    async (_, options) => {
      const clientA = clients.make(server, options)
      const [a, b] = [make(clientA), make(clients.make(server, options))]
      await well(a, b)
      let runs = 0
      let source: number | undefined
      const load = async () => {
        await sleep(20)
        return source ?? ++runs
      }
      expect(await Promise.all([a.getOrLoad('k', load), b.getOrLoad('k', load)])).toEqual([1, 1])
      const read = async (key: string): Promise<number> => {
        const { value, ms } = await timed(() => a.getOrLoad(key, () => key))
        expect(value).toBe(key)
        return ms
      }

      server.freeze()
      expect(await read('frozen')).toBeLessThan(100 + slackMs)
      expect(await read('frozen too')).toBeLessThan(slackMs)
      await expect(a.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      server.thaw()
      await well(a, b)
      expect(await b.getOrLoad('k', load)).toBe(2)

      await server.kill()
      expect(await read('killed')).toBeLessThan(100 + slackMs)
      await expect(a.set('k', 9)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      await server.restart()
      await well(a, b)
      // The source has it, too: A learns by its next beat that it is another server, and has what it
      // changed in the last minute loaded anew, this among it.
      source = 10
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
      expect(clientA.isReady).toBe(true)
    },
  )

  it('frozen: many reads at once pay one deadline together, and then nothing', async () => {
    const cache = make()
    await well(cache)
    server.freeze()
    const burst = () =>
      timed(() =>
        Promise.all(Array.from({ length: 500 }, (_, n) => cache.getOrLoad(`k${n}`, () => n))),
      )
    expect((await burst()).ms).toBeLessThan(100 + slackMs)
    const after = await burst()
    expect(after.value).toEqual(Array.from({ length: 500 }, (_, n) => n))
    expect(after.ms).toBeLessThan(slackMs)
    expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
    server.thaw()
    await well(cache)
  })

  it('started late: reads wait for connectTimeout at most, once, then L2 is used', async () => {
    await server.kill()
    for (const client of [clients.make(server), clients.later(server)]) {
      // The time begins when the cache is made.
      let cache!: Cache
      const first = await timed(() => {
        cache = make(client, { connectTimeout: '300ms' })
        return cache.getOrLoad('a', () => 1)
      })
      expect(first.value).toBe(1)
      expect(first.ms).toBeGreaterThanOrEqual(290)
      expect(first.ms).toBeLessThan(300 + slackMs)
      expect((await timed(() => cache.getOrLoad('b', () => 2))).ms).toBeLessThan(slackMs)
      expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
    }
    await server.restart()
    await well(...caches)
    await caches[0]!.getOrLoad('c', () => 3)
    await caches[0]!.idle()
    expect(await caches[1]!.getOrLoad('c', () => 0)).toBe(3)
  })

  it('T090 nothing is parked on a client that waits for its server', async () => {
    const client = clients.make(server, { socket: { reconnectStrategy: 50 } })
    const sent: string[] = []
    const { sendCommand } = client
    Object.assign(client, {
      sendCommand: (command: string[], options: object) => {
        sent.push(command[0]!)
        return (sendCommand as (...args: unknown[]) => unknown).call(client, command, options)
      },
    })
    const cache = make(client)
    await well(cache)
    await server.kill()
    await until(() => !client.isReady)
    sent.length = 0
    for (let n = 0; n < 3_000; n++) await cache.getOrLoad(`k${n}`, () => n)
    for (let n = 0; n < 100; n++) await cache.invalidate(`k${n}`).catch(() => {})
    await sleep(300)
    expect(sent).toEqual([])
    await server.restart()
    await well(cache)
  })

  it('T157 has one listener per event whatever the number of caches, and none after close', async () => {
    const client = clients.make(server)
    const names = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
    const before = names()
    const made = Array.from({ length: 15 }, () => make(client))
    await well(...made)
    for (let n = 0; n < 200; n++) await made[n % 15]!.getOrLoad(`k${n}`, () => n)
    await Promise.all(Array.from({ length: 50 }, (_, n) => made[0]!.invalidate(`k${n}`)))
    expect(Math.max(...names().map(([, count]) => count as number))).toBeLessThanOrEqual(2)
    await Promise.all(made.map((cache) => cache.close()))
    expect(names()).toEqual(before)
    expect(await client.ping()).toBe('PONG')
  })

  it('T093 a client without an error listener survives its server while a cache is open', async () => {
    const client = flavour.redis.createClient({ url: server.url, RESP: flavour.RESP } as object)
    await client.connect()
    const cache = make(client as never)
    await well(cache)
    await server.kill()
    await sleep(300)
    await server.restart()
    await well(cache)
    await cache.close()
    client.destroy()
  })

  it('T097 scripts that the server forgot are sent again, also in a batch', async () => {
    const [a, b] = [make(), make()]
    await well(a, b)
    await Promise.all([a.set('k', 1), a.set('k2', 1), a.expire('none')])
    await server.ask('SCRIPT', 'FLUSH')
    await a.invalidateMany(['k', 'k2'])
    await server.ask('SCRIPT', 'FLUSH')
    await Promise.all([a.set('k', 2), a.set('k2', 2)])
    await server.ask('SCRIPT', 'FLUSH')
    expect(await b.getOrLoad('new', () => 3)).toBe(3)
    expect(await b.getOrLoad('k', () => 0)).toBe(2)
    expect(a.health().status).toBe('ok')
  })

  it('that the user has closed already: reads are loaded, nothing hangs', async () => {
    const client = clients.later(server)
    await client.connect()
    client.destroy()
    const cache = make(client, { connectTimeout: '300ms' })
    expect(await cache.getOrLoad('k', () => 1)).toBe(1)
    expect((await timed(() => cache.getOrLoad('k2', () => 2))).ms).toBeLessThan(slackMs)
    await expect(cache.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })

  it('T091 cut without a word: one deadline, then nothing; a new connection is made', async () => {
    const proxy = await startTcpProxy(server.connection as { host: string; port: number })
    try {
      const client = clients.make({ connection: proxy.connection })
      const cache = make(client)
      await well(cache)
      proxy.severSilently()
      const first = await timed(() => cache.getOrLoad('a', () => 1))
      expect(first).toMatchObject({ value: 1 })
      expect(first.ms).toBeLessThan(100 + slackMs)
      const rest = await timed(() =>
        Promise.all(Array.from({ length: 200 }, (_, n) => cache.getOrLoad(`k${n}`, () => n))),
      )
      expect(rest.ms).toBeLessThan(slackMs)
      for (let n = 0; n < 20 && cache.health().status !== 'ok'; n++) await sleep(1_000)
      expect(cache.health()).toMatchObject({ status: 'ok', store: 'up', bus: 'up' })
      expect(client.isReady).toBe(true)
    } finally {
      await proxy.close()
    }
  })
})
