// A cache by node-redis through Sentinel: how commands share the connection that it lends out, and
// the master that changes under it.

import { startRedisSentinel, type RedisSentinel, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/node-redis.ts'
import { heard, newToken, take } from '../../src/testing/store-rig.ts'
import {
  usualFlavours,
  nodeRedisClients,
  type TestSentinel,
} from '../support/node-redis-clients.ts'
import { runScript } from '../support/node-redis-script.ts'
import { openSession, sleep, until, type Watched } from '../support/open-session.ts'
import { well } from '../support/well.ts'

describe.each(usualFlavours)('Sentinel, $flavour', (flavour) => {
  let rig: RedisSentinel
  const clients = nodeRedisClients(flavour)
  const caches: Cache[] = []
  const open: Watched[] = []
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)

  const make = (client: TestSentinel, options: Partial<CacheOptions> = {}) => {
    const store = redisStore({ client })
    const cache = createCache({ namespace: 'shop', ttl: '60s', store, ...options })
    caches.push(cache)
    return cache
  }
  const openOn = (client: TestSentinel, options: { bus?: false; replicaReads?: boolean } = {}) => {
    const watched = openSession(redisStore({ client, ...options }))
    open.push(watched)
    return watched
  }
  const stat = async (server: RedisServer, section: string, name: string) =>
    Number(
      new RegExp(`${name}[:=](\\d+)`).exec(String(await server.ask('INFO', section)))?.[1] ?? 0,
    )
  const reads = (server: RedisServer) => stat(server, 'stats', 'total_reads_processed')

  beforeAll(async () => {
    process.on('unhandledRejection', onUnhandled)
    rig = await startRedisSentinel()
  }, 60_000)
  afterEach(async () => {
    await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
    await Promise.all(open.splice(0).map((one) => one.session.close()))
    clients.end()
    const faults = unhandled.splice(0)
    if (faults.length > 0) throw new Error(`unhandled: ${faults.map(String).join('; ')}`)
  })
  afterAll(async () => {
    process.removeListener('unhandledRejection', onUnhandled)
    await rig.stop()
  })

  it('commands of one turn go out in two writes at most, and are answered together', async () => {
    const { session } = openOn(await clients.sentinel(rig), { bus: false })
    const keys = Array.from({ length: 100 }, (_, n) => `k${n}`)
    await session.invalidate(keys, newToken())
    const master = await rig.master()
    const before = await reads(master)
    await Promise.all(keys.map((key) => take(session, key)))
    await session.invalidate(keys, newToken())
    // The first `take` may find that its script is not known; the others share a connection.
    expect((await reads(master)) - before).toBeLessThan(30)
  })

  const setups: Record<string, object> = {
    'with three connections': { masterPoolSize: 3 },
    'that reserves one': { reserveClient: true },
    'with replicas': { replicaPoolSize: 1 },
    'with options for its nodes': { nodeClientOptions: { disableOfflineQueue: true } },
    ...(flavour.major === 6 && { 'with a key prefix': { keyPrefix: 'pre:' } }),
  }
  it.each(Object.entries(setups))('a client %s: two caches, one load', async (_name, options) => {
    const [a, b] = [
      make(await clients.sentinel(rig, options)),
      make(await clients.sentinel(rig, options)),
    ]
    await well(a, b)
    let runs = 0
    const load = async () => {
      await sleep(50)
      return ++runs
    }
    const key = `cold ${_name}`
    const callers = Array.from({ length: 50 }, (_, n) => (n % 2 === 0 ? a : b).getOrLoad(key, load))
    expect(new Set(await Promise.all(callers))).toEqual(new Set([1]))
    await a.invalidate(key)
    let seen = 1
    for (let turn = 0; turn < 100 && seen === 1; turn++) {
      seen = await b.getOrLoad(key, load)
      await sleep(10)
    }
    expect(seen).toBe(2)
    if ('keyPrefix' in options) {
      const names = (await (await rig.master()).ask('KEYS', `*${key}*`)) as string[]
      expect(names.every((name) => name.startsWith('pre:bw:'))).toBe(true)
    }
  })

  it('reads from the master alone, or from replicas too where it may', async () => {
    const client = await clients.sentinel(rig, { replicaPoolSize: 1 })
    const replicas = rig.servers.slice(1)
    for (const replicaReads of [false, true]) {
      const { session } = openOn(client, { bus: false, replicaReads })
      expect(session.fromReplica).toBe(replicaReads)
      await Promise.all(replicas.map((server) => server.ask('CONFIG', 'RESETSTAT')))
      for (let n = 0; n < 20; n++) await session.read(`k${n}`)
      const asked = await Promise.all(
        replicas.map((server) => stat(server, 'commandstats', 'cmdstat_get:calls')),
      )
      expect(Math.max(...asked) > 0).toBe(replicaReads)
    }
  })

  it('T091 a connection that is made anew: commands and subscription go on', async () => {
    const client = await clients.sentinel(rig)
    const mine = openOn(client)
    await mine.reaches('up')
    mine.session.reconnect('commands')
    await until(() => !mine.session.ready)
    await take(mine.session, `anew ${flavour.flavour}`)
    await until(() => mine.session.ready)
    mine.session.reconnect('bus')
    await mine.reaches('up')
    const before = (await heard(mine)).length
    const id = newToken()
    await mine.session.invalidate(['k'], id)
    expect((await heard(mine)).slice(before)).toEqual([{ type: 'invalidated', key: 'k', id }])
  })

  it('tells when it is ready, connected by its user or by us', async () => {
    const byUs = openOn(clients.laterSentinel(rig), { bus: false })
    const client = clients.laterSentinel(rig)
    const byUser = openOn(client, { bus: false })
    await client.connect()
    await Promise.all([byUs.reaches('ready'), byUser.reaches('ready')])
    expect([...byUs.faults, ...byUser.faults]).toEqual([])
  })

  it('T157 leaves no listener on the client', async () => {
    const client = await clients.sentinel(rig)
    const names = () => client.eventNames().map((name) => [name, client.listenerCount(name)])
    const before = names()
    const made = Array.from({ length: 15 }, () => make(client))
    await well(...made)
    expect(Math.max(...names().map(([, count]) => count as number))).toBeLessThanOrEqual(2)
    await Promise.all(made.map((cache) => cache.close()))
    expect(names()).toEqual(before)
  })

  it.each([true, false])(
    'T159 a script whose cache is closed (%s) ends by itself',
    async (close) => {
      const end = await runScript(flavour, {
        create: 'createSentinel',
        options: { name: rig.name, sentinelRootNodes: rig.sentinels },
        close,
      })
      expect(end).toMatchObject({ code: 0, output: 'done\n' })
      expect(end.lingeredMs).toBeLessThan(5_000)
    },
  )

  // These take a while, and the protocol has no part in them.
  if (!flavour.isUsual) return

  /** Within 20 s, what one has stored the other finds there. */
  const shares = async (a: Cache, b: Cache) => {
    for (let n = 0; n < 100; n++) {
      const stored = await a.set('k', n).then(
        () => true,
        () => false,
      )
      if (stored && (await b.getOrLoad('k', () => -1)) === n) return
      await sleep(200)
    }
    throw new Error(`expected k to be shared, got ${JSON.stringify(a.health())}`)
  }

  it('T094 a failover that was asked for: writes work again, nobody restarts', async () => {
    const [a, b] = [make(await clients.sentinel(rig)), make(await clients.sentinel(rig))]
    await well(a, b)
    await a.set('k', 'before')
    await rig.failOver()
    await shares(a, b)
    await well(a, b)
  }, 60_000)

  it('a master that is killed: no read fails, and its successor serves', async () => {
    await rig.settled()
    const [a, b] = [make(await clients.sentinel(rig)), make(await clients.sentinel(rig))]
    await well(a, b)
    const lost = await rig.master()
    await lost.kill()
    let reading = true
    const reader = (async () => {
      for (let n = 0; reading; n++) {
        const from = performance.now()
        expect(await a.getOrLoad(`k${n % 50}`, () => n, { maxAge: 1 })).toBeTypeOf('number')
        expect(performance.now() - from).toBeLessThan(1_500)
        await sleep(10)
      }
    })()
    await rig.successorOf(lost)
    try {
      await shares(a, b)
    } finally {
      reading = false
      await reader
      await lost.restart()
    }
    await well(a, b)
    await rig.settled()
  }, 60_000)

  it('started late, and connected by the cache: L2 is used as soon as it is there', async () => {
    const all = [...rig.sentinelServers]
    await Promise.all(all.map((server) => server.kill()))
    const cache = make(clients.laterSentinel(rig), { connectTimeout: '300ms' })
    expect(await cache.getOrLoad('a', () => 1)).toBe(1)
    expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
    await Promise.all(all.map((server) => server.restart()))
    for (let n = 0; n < 30 && cache.health().status !== 'ok'; n++) await sleep(1_000)
    await well(cache)
  }, 60_000)
})
