// T094: a master that becomes a replica under the same address, as in a managed failover behind a
// name. Its connections stand, and it refuses writes on them for ever: the client must look again.

import { startRedisServer, type RedisServer, startTcpProxy, type TcpProxy } from '@breakwater/rig'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import type { Store } from '../../src/ports.ts'
import { redisStore as ioredisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'
import { clientsOf, newestMajor } from '../support/ioredis-majors.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { sleep, until } from '../support/open-session.ts'

type Server = Pick<RedisServer, 'connection'>

// One of each library: the cases take ten seconds and more.
const kinds = [
  ...newestMajor.map(({ major, Redis }) => ({
    name: major,
    clients: () => {
      let at: Server
      const clients = clientsOf(() => at as RedisServer, Redis)
      return {
        store: (server: Server, options: object = {}): Store => {
          at = server
          return ioredisStore({ client: clients.make(options) })
        },
        never: { retryStrategy: null },
        end: () => clients.end(),
      }
    },
  })),
  ...usualFlavours.slice(0, 1).map((flavour) => ({
    name: flavour.flavour,
    clients: () => {
      const clients = nodeRedisClients(flavour)
      return {
        store: (server: Server, options: object = {}): Store =>
          nodeRedisStore({ client: clients.make(server, options) }),
        never: { socket: { reconnectStrategy: false } },
        end: () => clients.end(),
      }
    },
  })),
]

describe.each(kinds)('a demoted master, with $name', { timeout: 60_000 }, (kind) => {
  let old: RedisServer
  let heir: RedisServer
  let name: TcpProxy
  const clients = kind.clients()
  const caches: Cache[] = []
  const make = async (server: Server, options: object = {}) => {
    const store = clients.store(server, options)
    const cache = createCache({ namespace: 'demoted', ttl: '60s', memory: false, store })
    caches.push(cache)
    await until(() => cache.health().status === 'ok')
    return cache
  }
  const set = (cache: Cache, value: number) => cache.set('k', value).then(() => 'taken', String)
  // A replica need not wait for others that might want the same.
  const start = () => startRedisServer({ args: ['--repl-diskless-sync-delay', '0'] })
  beforeEach(async () => {
    ;[old, heir] = await Promise.all([start(), start()])
    name = await startTcpProxy(old.connection as { host: string; port: number })
  })
  afterEach(async () => {
    await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
    clients.end()
    await name.close()
    await Promise.all([old.stop(), heir.stop()])
  })
  const demote = async () => {
    await old.ask('REPLICAOF', '127.0.0.1', heir.port)
    await expect
      .poll(() => old.ask('INFO', 'replication'), { timeout: 10_000 })
      .toContain('master_link_status:up')
  }

  it('writes reach the new one within the limit, and reads go on until then', async () => {
    const cache = await make(name)
    const other = await make(heir)
    await other.set('there', 1)
    await demote()
    const first = name.accepted
    expect(await set(cache, 1)).toContain('READONLY')
    // The name is switched when it has looked in vain once.
    await until(() => name.accepted > first && cache.health().store === 'up')
    await expect.poll(() => set(cache, 2)).toContain('READONLY')
    for (let n = 0; n < 20; n++) {
      expect(await cache.getOrLoad('there', () => 2)).toBe(1)
      await sleep(10)
    }
    const from = performance.now()
    name.retarget(heir.connection as { host: string; port: number })
    await expect.poll(() => set(cache, 3), { timeout: 20_000, interval: 100 }).toBe('taken')
    expect(performance.now() - from).toBeLessThan(8_000)
    await until(() => cache.health().status === 'ok')
    // Once is enough.
    const { accepted } = name
    for (let n = 0; n < 30; n++) {
      await expect.poll(() => set(cache, n), { interval: 20 }).toBe('taken')
      await sleep(50)
    }
    expect(name.accepted).toBe(accepted)
    expect(await other.getOrLoad('k', () => -1)).toBe(29)
  })

  it('one that answers nothing until it has a master: the new one is found all the same', async () => {
    const cache = await make(name)
    await old.ask('CONFIG', 'SET', 'replica-serve-stale-data', 'no')
    await old.ask('REPLICAOF', '127.0.0.1', 9)
    name.retarget(heir.connection as { host: string; port: number })
    const from = performance.now()
    await expect.poll(() => set(cache, 1), { timeout: 20_000, interval: 50 }).toBe('taken')
    expect(performance.now() - from).toBeLessThan(5_000)
    await until(() => cache.health().status === 'ok')
  })

  it('while no server takes writes, connections are few', async () => {
    const cache = await make(name)
    await demote()
    const { accepted } = name
    for (let n = 0; n < 90; n++) {
      await set(cache, n)
      await sleep(100)
    }
    expect(name.accepted - accepted).toBeLessThanOrEqual(2)
    expect(name.accepted - accepted).toBeGreaterThan(0)
  })

  it('a client that is told never to retry keeps the connection that it has', async () => {
    const cache = await make(name, clients.never)
    await make(heir).then((other) => other.set('there', 1))
    await demote()
    const { accepted } = name
    expect(await set(cache, 1)).toContain('READONLY')
    await sleep(300)
    expect(await cache.getOrLoad('there', () => 2)).toBe(1)
    expect(name.accepted).toBe(accepted)
  })
})
