// What a cluster may answer with: MOVED, ASK and TRYAGAIN while a slot is on its way, CLUSTERDOWN
// while nobody has a slot, and MOVED and CROSSSLOT to a client that takes it for one server.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import type { Store } from '../../src/ports.ts'
import { redisStore as ioredisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'
import { keysByMaster, keysInSlot, slotOfKey } from '../support/cluster-keys.ts'
import { libraries } from '../support/every-library.ts'
import { clusterClientsOf, newestMajor } from '../support/ioredis-majors.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { sleep } from '../support/open-session.ts'
import { well } from '../support/well.ts'

let rig: RedisCluster
beforeAll(async () => {
  rig = await startRedisCluster({ masters: 3, replicas: 0 })
}, 60_000)
afterAll(() => rig.stop())

const ioredis = clusterClientsOf(() => rig, newestMajor[0]!.Cluster)
const flavour = usualFlavours.at(-1)!
const nodeRedis = nodeRedisClients(flavour)
const clients: Record<string, () => Promise<Store>> = {
  [newestMajor[0]!.major]: async () => ioredisStore({ client: ioredis.make() }),
  [flavour.flavour]: async () => nodeRedisStore({ client: await nodeRedis.cluster(rig) }),
}
const caches: Cache[] = []
afterEach(async () => {
  await Promise.all(rig.nodes.map((node) => node.ask('FLUSHALL')))
  await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
  ioredis.end()
  nodeRedis.end()
  for (const library of libraries) library.end()
})
const make = (store: Store, options: object = {}) => {
  const cache = createCache({ namespace: 'words', ttl: '1h', memory: false, store, ...options })
  caches.push(cache)
  return cache
}
const unavailable = { code: 'STORE_UNAVAILABLE' }
const place = { namespace: 'words', entry: (key: string) => `k:${key}` }

describe.each(Object.entries(clients))('with %s', { timeout: 60_000 }, (_, store) => {
  it('a big value lies in the slot of its frame, is read elsewhere, and goes with it', async () => {
    const [cache, other] = [
      make(await store(), { storeTimeout: '5s' }),
      make(await store(), { storeTimeout: '5s' }),
    ]
    await well(cache, other)
    const big = Buffer.alloc(3_000_000)
    for (let n = 0; n < big.length; n++) big[n] = Math.floor(Math.random() * 256)
    const bodies = async (): Promise<number> => {
      const found = await Promise.all(rig.nodes.map((node) => node.ask('KEYS', '*:b:*')))
      return found.flat().length
    }
    await cache.set('big', big)
    expect(await bodies()).toBe(1)
    const read = await other.getOrLoad('big', () => Buffer.alloc(0))
    expect(Buffer.compare(read, big)).toBe(0)
    await other.invalidate('big')
    expect(await bodies()).toBe(0)
  })

  it('T105 MOVED, ASK, TRYAGAIN: a slot on its way costs a lease at most, and no read', async () => {
    const cache = make(await store(), { storeTimeout: '5s' })
    await well(cache)
    await rig.settled()
    const slot = slotOfKey('key-0', place)
    const keys = keysInSlot(slot, 5, place)
    const [first, second, missing, later, unread] = keys as [string, string, string, string, string]
    const from = await rig.masterOf(slot)
    const to = (await rig.masters()).find((node) => node !== from)!
    for (const key of [first, second]) await cache.getOrLoad(key, () => `old ${key}`)
    await cache.idle()

    const move = await rig.startSlotMove(slot, to)
    // Where it is, and (ASK) where it has gone.
    expect(await cache.getOrLoad(first, () => 'not this')).toBe(`old ${first}`)
    await move.moveKeys(1)
    for (const key of [first, second]) {
      expect(await cache.getOrLoad(key, () => 'not this')).toBe(`old ${key}`)
    }
    // Redis runs no script on an entry and its lease while neither is known to be here.
    expect(await cache.getOrLoad(missing, () => 'loaded')).toBe('loaded')
    await cache.invalidate(second).catch((error: unknown) => {
      expect(error).toMatchObject(unavailable)
    })
    expect(await cache.getOrLoad(second, () => 'new')).toBe('new')
    await move.finish()
    // MOVED: followed.
    expect(await cache.getOrLoad(first, () => 'not this')).toBe(`old ${first}`)
    await cache.set(later, 'written')
    await cache.invalidate(unread)
    await well(cache)
    expect(await cache.getOrLoad(later, () => 'not this')).toBe('written')
    expect(await cache.getOrLoad(second, () => 'newer')).not.toBe(`old ${second}`)
    await rig.moveSlot(slot, from)
  })

  it('CLUSTERDOWN: all is loaded, no read waits for long, and what was missed is made up for', async () => {
    const cache = make(await store())
    await well(cache)
    await rig.settled()
    const byMaster = await keysByMaster(rig, 1, place)
    const keys = [...byMaster.values()].flat()
    for (const key of keys) await cache.getOrLoad(key, () => 'old')
    await cache.idle()
    const lost = [...byMaster.keys()].at(-1)!
    const range = await rangeOf(lost)
    await Promise.all(rig.nodes.map((node) => node.ask('CLUSTER', 'DELSLOTSRANGE', ...range)))
    try {
      await expect.poll(() => rig.nodes[0]!.ask('CLUSTER', 'INFO')).toContain('cluster_state:fail')
      for (const key of keys) await expect(cache.invalidate(key)).rejects.toMatchObject(unavailable)
      const waited: number[] = []
      for (let n = 0; n < 60; n++) {
        const since = performance.now()
        expect(await cache.getOrLoad(`${keys[n % 3]!}`, () => 'new')).toBe('new')
        waited.push(performance.now() - since)
      }
      // At most one storeTimeout each, five times for each master; then its breaker is open.
      expect(Math.max(...waited)).toBeLessThan(100 + 500)
      expect(Math.max(...waited.slice(-20))).toBeLessThan(90)
      expect(cache.health().status).toBe('degraded')
    } finally {
      await lost.ask('CLUSTER', 'ADDSLOTSRANGE', ...range)
    }
    await rig.settled()
    await well(cache)
    for (const key of keys) expect(await cache.getOrLoad(key, () => 'newest')).not.toBe('old')
    await cache.idle()
    await cache.set(keys[0]!, 'written')
  })
})

async function rangeOf(node: ClusterNode): Promise<string[]> {
  const nodes = String(await node.ask('CLUSTER', 'NODES'))
  return /myself.* connected (\d+)-(\d+)/.exec(nodes)!.slice(1)
}

it('MOVED, CROSSSLOT: a client of one server, given one of a cluster, is as good as none', async () => {
  // The labels' slot is its own, so that it works at first: the rest is what it cannot have.
  const tags = await rig.masterOf(await rig.slotOf('bw:words:{words%tags}:e'))
  const foreign = [...(await keysByMaster(rig, 1, place))].find(([node]) => node !== tags)![1][0]!
  const each = libraries.map(async (library) => {
    const cache = make(library.store(tags), { storeTimeout: '3s' })
    let opened = 0
    cache.on('breaker', ({ state }) => (opened += state === 'open' ? 1 : 0))
    await well(cache)
    const end = performance.now() + 1_500
    for (let n = 0; performance.now() < end; n++) {
      const both = [`a${n}`, `b${n}`].map((key) => cache.getOrLoad(key, () => key))
      expect(await Promise.all(both)).toEqual([`a${n}`, `b${n}`])
      await sleep(5)
    }
    expect(opened).toBeGreaterThan(0)
    // After 0.1, 0.2, 0.4, 0.8 s: not up and down for ever.
    expect(opened).toBeLessThan(6)
    await expect(cache.invalidate(foreign)).rejects.toMatchObject(unavailable)
    expect(cache.health().status).toBe('degraded')
  })
  await Promise.all(each)
})
