// T087: the user is told of a policy by which leases may be evicted; losing one costs a load.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { createClient } from 'redis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore as ioredisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'
import { sleep, until } from '../support/open-session.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

const kinds = {
  ioredis: () => {
    const client = new Redis(server.connection as { host: string; port: number })
    return { store: ioredisStore({ client }), end: () => client.disconnect() }
  },
  'node-redis': () => {
    const client = createClient({ socket: server.connection as { host: string; port: number } })
    client.on('error', () => {})
    return { store: nodeRedisStore({ client }), end: () => client.destroy() }
  },
}

describe.each(Object.entries(kinds))('by %s', (_, kind) => {
  const ends: (() => unknown)[] = []
  const make = async (): Promise<{ cache: Cache; told: string[] }> => {
    const { store, end } = kind()
    const cache = createCache({ namespace: 'policy', ttl: '1m', lease: '300ms', store })
    const told: string[] = []
    cache.on('eviction', ({ policy }) => told.push(policy))
    ends.push(() => cache.close({ timeout: 100 }).then(end))
    await until(() => cache.health().status === 'ok')
    await cache.getOrLoad('k', () => 1)
    return { cache, told }
  }
  afterEach(async () => {
    await Promise.all(ends.splice(0).map((end) => end()))
    await server.ask('FLUSHALL')
  })

  it.each([
    ['100mb', 'allkeys-lru', ['allkeys-lru']],
    ['100mb', 'volatile-ttl', ['volatile-ttl']],
    ['100mb', 'noeviction', []],
    ['0', 'allkeys-lru', []],
  ])('T087 maxmemory %s, %s: told %o, once', async (maxmemory, policy, expected) => {
    await server.ask('CONFIG', 'SET', 'maxmemory', maxmemory, 'maxmemory-policy', policy)
    const { told } = await make()
    await sleep(50)
    expect(told).toEqual(expected)
  })

  it('T087 a lease that vanishes costs a second load at most', async () => {
    const [a, b] = [(await make()).cache, (await make()).cache]
    let runs = 0
    const load = async () => {
      runs++
      await sleep(400)
      return 'value'
    }
    const callers = [a.getOrLoad('lost', load), b.getOrLoad('lost', load)]
    await until(() => runs === 1)
    expect(await server.ask('DEL', 'bw:policy:{k:lost}:l')).toBe(1)
    expect(await Promise.all(callers)).toEqual(['value', 'value'])
    expect(runs).toBeLessThanOrEqual(2)
    expect(await a.getOrLoad('lost', load)).toBe('value')
  })
})
