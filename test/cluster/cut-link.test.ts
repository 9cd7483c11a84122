// A partition inside the cluster: one master can no longer tell the node that we are subscribed at
// what is published at it. Its clients reach it, and nobody is taken for failed.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import type { Store } from '../../src/ports.ts'
import { redisStore as ioredisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'
import { well } from '../support/well.ts'
import { keysByMaster } from '../support/cluster-keys.ts'
import { breakableBusLink, type BusLink } from '../support/cut-bus-link.ts'
import { clusterClientsOf, newestMajor } from '../support/ioredis-majors.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { sleep, until } from '../support/open-session.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 0 })
})
afterAll(() => cluster.stop())

interface Kind {
  readonly name: string
  clients(): { store(bus: false | undefined): Promise<Store>; end(): void }
}

// One of each library: the cases take half a minute, and know nothing of versions.
const kinds: readonly Kind[] = [
  ...newestMajor.map(({ major, Cluster }) => ({
    name: major,
    clients: () => {
      const clients = clusterClientsOf(() => cluster, Cluster)
      return {
        store: async (bus: false | undefined) => ioredisStore({ client: clients.make(), bus }),
        end: () => clients.end(),
      }
    },
  })),
  ...usualFlavours.slice(0, 1).map((flavour) => ({
    name: flavour.flavour,
    clients: () => {
      const clients = nodeRedisClients(flavour)
      return {
        store: async (bus: false | undefined) =>
          nodeRedisStore({ client: await clients.cluster(cluster), bus }),
        end: () => clients.end(),
      }
    },
  })),
]

/** Where the one subscription is, and its connection. */
async function subscriptions(): Promise<{ node: ClusterNode; id: string }[]> {
  const lists = await Promise.all(
    cluster.nodes.map(async (node) => {
      const list = String(await node.ask('CLIENT', 'LIST', 'TYPE', 'PUBSUB'))
      return [...list.matchAll(/^id=(\d+)/gm)].map(([, id]) => ({ node, id: id! }))
    }),
  )
  return lists.flat()
}

async function nextBeat(master: ClusterNode): Promise<void> {
  const calls = async () =>
    /cmdstat_publish:calls=(\d+)/.exec(String(await master.ask('INFO', 'commandstats')))?.[1]
  const before = await calls()
  await expect.poll(calls, { timeout: 5_000, interval: 20 }).not.toBe(before)
}

describe.each(kinds)('a link of the bus that is cut, with $name', { timeout: 120_000 }, (kind) => {
  const clients = kind.clients()
  const caches: Cache[] = []
  let link: BusLink | undefined
  const make = async (bus?: false) => {
    const store = await clients.store(bus)
    const options = { namespace: 'suite', ttl: '5m', storeTimeout: '5s', store } as const
    const cache = createCache(options)
    caches.push(cache)
    await well(cache)
    return cache
  }
  afterEach(async () => {
    await link?.heal()
    link = undefined
    await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
    clients.end()
    await Promise.all(cluster.nodes.map((node) => node.ask('FLUSHALL')))
  })

  it('what its master alone tells is seen 5 s later, and the subscription moves on, once', async () => {
    const writer = await make(false)
    const reader = await make()
    let version = 1
    const load = async (_key: string) => version
    const place = { entry: (key: string) => `r:item:${key}` }
    const [there, here] = [writer, reader].map((cache) => cache.define({ name: 'item', load }))
    const deaf = (await subscriptions())[0]!.node
    const keys = await keysByMaster(cluster, 1, place)
    const [master, [key]] = [...keys].find(([node]) => node !== deaf) as [ClusterNode, [string]]
    const told: string[] = []
    reader.on('bus', ({ state }) => told.push(state))
    link = await breakableBusLink(cluster, master, deaf)
    // A beat that was lost on the way is found out by the next one.
    for (let heard = -1; heard !== told.length;) {
      heard = told.length
      await sleep(4_500)
    }
    expect(await here!.get(key)).toBe(1)
    // Just after a beat: the third that is lost comes later than 5 s, and with it the renewal.
    await nextBeat(master)
    await sleep(100)
    link.cut()

    version = 2
    await there!.invalidate(key)
    expect(await there!.get(key)).toBe(2)
    await sleep(100)
    expect(await here!.lookup(key)).toMatchObject({ value: 1, tier: 'memory' })
    await sleep(4_950)
    expect(await here!.get(key)).toBe(2)

    await until(() => reader.health().bus === 'up')
    const moved = await subscriptions()
    expect(moved).toHaveLength(1)
    expect(moved[0]!.node).not.toBe(deaf)
    const before = told.length
    await sleep(9_000)
    expect(await subscriptions()).toEqual(moved)
    expect(told.slice(before)).toEqual([])
    // It is told again, by that master too.
    version = 3
    await there!.invalidate(key)
    await sleep(100)
    expect(await here!.get(key)).toBe(3)
  })
})
