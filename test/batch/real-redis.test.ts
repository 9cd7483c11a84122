// Batches on a real server: data of another kind, torn frames and refusals in the middle of one,
// a server that freezes or dies meanwhile. Each place has its own value, whatever the others have.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { createLayout } from '../../src/redis/layout.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { until } from '../support/open-session.ts'
import { controlled } from '../support/two-processes.ts'

const ascending = (a: number, b: number): number => a - b

const { Redis } = majors[0]!
let server: RedisServer
const clients = clientsOf(() => server, Redis)
const caches: Cache[] = []

beforeAll(async () => {
  server = await startRedisServer()
})
afterEach(async () => {
  server.thaw()
  await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 0 })))
  clients.end()
})
afterAll(() => server.stop())

let spaces = 0
const newSpace = (): string => `batch${++spaces}`

async function open(
  namespace: string,
  options: Partial<CacheOptions> = {},
  client = clients.make(),
) {
  const store = redisStore({ client })
  // A noisy machine must not look like a store that is gone.
  const cache = createCache({ namespace, ttl: '60s', store, storeTimeout: '5s', ...options })
  caches.push(cache)
  await until(() => cache.health().status === 'ok')
  return cache
}

function define(cache: Cache, who: string, wait: () => Promise<unknown> = async () => {}) {
  const batches: number[][] = []
  const resource = cache.define({
    name: 'n',
    load: async (id: number) => `${who} alone ${id}`,
    loadMany: async (ids) => {
      batches.push([...ids])
      await wait()
      return ids.map((id) => `${who} ${id}`)
    },
  })
  return { resource, batches }
}

/** The key of an entry's frame. */
const frameKey = (namespace: string, key: string): string =>
  createLayout({ namespace, id: '', db: 0, keyPrefix: '' }).frameKey(key)

describe('a batch on a real server', () => {
  test('another process reads all of it, in its own order', async () => {
    const space = newSpace()
    const [one, two] = [define(await open(space), 'one'), define(await open(space), 'two')]
    const ids = Array.from({ length: 300 }, (_, n) => n)
    await one.resource.getMany(ids)
    await caches[0]!.idle()
    const order = ids.toReversed()
    expect(await two.resource.getMany([...order, 7])).toEqual(
      [...order, 7].map((id) => `one ${id}`),
    )
    expect(two.batches).toEqual([])
  })

  test('our share is loaded in one call, theirs comes with their push', async () => {
    const space = newSpace()
    const source = controlled<undefined>()
    const [one, two] = [
      define(await open(space), 'one', source.load),
      define(await open(space), 'two'),
    ]
    const first = one.resource.getMany([1, 2, 3])
    await until(() => source.runs === 1)
    const second = two.resource.getMany([4, 3, 2, 5])
    await until(() => two.batches.length === 1)
    source.end(undefined)
    expect(await second).toEqual(['two 4', 'one 3', 'one 2', 'two 5'])
    expect(await first).toEqual(['one 1', 'one 2', 'one 3'])
    expect([one.batches, two.batches]).toEqual([[[1, 2, 3]], [[4, 5]]])
  })

  test('foreign data, torn and empty frames in its middle are misses there, and nowhere else', async () => {
    const space = newSpace()
    const one = define(await open(space), 'one')
    await one.resource.getMany([1, 2, 3, 4, 5, 6])
    await caches[0]!.idle()
    const admin = clients.make()
    const at = (id: number) => frameKey(space, one.resource.key(id))
    const [torn] = await Promise.all([admin.getBuffer(at(4)), admin.del(at(2))])
    await admin.rpush(at(2), 'a', 'list')
    await admin.set(at(3), '')
    await admin.set(at(4), torn!.subarray(0, torn!.length - 3))
    await admin.set(at(5), 'text of another application')
    const two = define(await open(space), 'two')
    expect(await two.resource.getMany([6, 5, 4, 3, 2, 1])).toEqual([
      'one 6',
      'two 5',
      'two 4',
      'two 3',
      'two 2',
      'one 1',
    ])
    expect(two.batches.flat().toSorted(ascending)).toEqual([2, 3, 4, 5])
  })

  test('whoever may GET and not MGET reads one by one, and nothing is shifted', async () => {
    const space = newSpace()
    const one = define(await open(space), 'one')
    await one.resource.getMany([1, 2, 4])
    await caches[0]!.idle()
    const admin = clients.make()
    await admin.acl('SETUSER', 'no-mget', 'on', '>word', '~*', '&*', '+@all', '-mget')
    const limited = clients.make({ username: 'no-mget', password: 'word' })
    const two = define(await open(space, {}, limited), 'two')
    const got = [4, 3, 2, 1, 3].map((id) => `${id === 3 ? 'two' : 'one'} ${id}`)
    expect(await two.resource.getMany([4, 3, 2, 1, 3])).toEqual(got)
    expect(two.batches).toEqual([[3]])
  })

  test('leases that are refused leave the values, which are not stored', async () => {
    const space = newSpace()
    const one = define(await open(space), 'one')
    await one.resource.getMany([1])
    await caches[0]!.idle()
    const admin = clients.make()
    const two = define(await open(space), 'two')
    await admin.config('SET', 'maxmemory', '1')
    try {
      expect(await two.resource.getMany([3, 1, 2])).toEqual([
        expect.stringMatching(/^two .*3$/),
        'one 1',
        expect.stringMatching(/^two .*2$/),
      ])
    } finally {
      await admin.config('SET', 'maxmemory', '0')
    }
    const three = define(await open(space), 'three')
    expect(await three.resource.getMany([1, 2, 3])).toEqual(['one 1', 'three 2', 'three 3'])
  })

  test('scripts forgotten in the middle are sent again, and each key is loaded once', async () => {
    const space = newSpace()
    const source = controlled<undefined>()
    const one = define(await open(space), 'one', source.load)
    const asked = one.resource.getMany([1, 2, 3])
    await until(() => source.runs === 1)
    await clients.make().script('FLUSH')
    source.end(undefined)
    expect(await asked).toEqual(['one 1', 'one 2', 'one 3'])
    await caches[0]!.idle()
    const two = define(await open(space), 'two')
    expect(await two.resource.getMany([3, 2, 1])).toEqual(['one 3', 'one 2', 'one 1'])
  })

  test('a frozen server is waited for once, not once for each key', async () => {
    const cache = await open(newSpace(), { storeTimeout: '1s' })
    const one = define(cache, 'one')
    await one.resource.getMany([1])
    await cache.idle()
    let opened = 0
    cache.on('breaker', ({ state }) => void (opened += state === 'open' ? 1 : 0))
    server.freeze()
    const ids = [1, 2, 3, 4, 5]
    expect(await one.resource.getMany(ids)).toEqual(ids.map((id) => `one ${id}`))
    expect(one.batches).toEqual([[1], [2, 3, 4, 5]])
    expect(opened).toBe(1)
    // While it is gone nothing waits for it.
    expect(await one.resource.getMany([5, 6, 7])).toEqual(['one 5', 'one 6', 'one 7'])
    server.thaw()
    await until(() => cache.health().status === 'ok')
    expect(await one.resource.getMany([8, 9])).toEqual(['one 8', 'one 9'])
  })

  test('a server that dies in the middle of the load costs the store its values, and nobody else', async () => {
    const own = await startRedisServer()
    const client = new Redis({ ...own.connection, retryStrategy: () => 50 })
    client.on('error', () => {})
    const cache = createCache({ namespace: 'dies', ttl: '60s', store: redisStore({ client }) })
    try {
      await until(() => cache.health().status === 'ok')
      const source = controlled<undefined>()
      const one = define(cache, 'one', source.load)
      const asked = one.resource.getManySettled([1, 2, 3])
      await until(() => source.runs === 1)
      await own.kill()
      source.end(undefined)
      expect((await asked).map((each) => 'value' in each && each.value)).toEqual([
        'one 1',
        'one 2',
        'one 3',
      ])
      const during = one.resource.getMany([4, 5])
      await until(() => source.runs === 2)
      source.end(undefined)
      expect(await during).toEqual(['one 4', 'one 5'])
      await own.restart()
      await until(() => cache.health().status === 'ok')
      const after = one.resource.getMany([6, 7])
      await until(() => source.runs === 3)
      source.end(undefined)
      expect(await after).toEqual(['one 6', 'one 7'])
      await cache.idle()
      expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
    } finally {
      await cache.close({ timeout: 0 })
      client.disconnect()
      await own.stop()
    }
  })
})
