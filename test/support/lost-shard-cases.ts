// What a cache on a cluster does when one master of three is lost, by any client: frozen, killed, or
// cut off. One storeTimeout at most for what that one has, and nothing for the rest.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createCache, type Cache, type CacheEvents, type CacheOptions } from '../../src/index.ts'
import type { Store } from '../../src/ports.ts'
import { createLayout } from '../../src/redis/layout.ts'
import { slotOf } from '../../src/redis/slots.ts'
import { keysByMaster } from './cluster-keys.ts'
import { sleep } from './open-session.ts'

export interface ShardClients {
  /** A store by a client of its own, as another process would have. `bus`: whose messages it hears. */
  store(cluster: RedisCluster, bus: ClusterNode): Store | Promise<Store>
  end(): void
}

const storeTimeout = 1_000
/** No two loads give the same. */
let versions = 0
const layout = createLayout({ namespace: 'suite', id: '', db: 0, keyPrefix: '' })

interface Loss {
  lose(node: ClusterNode): void | Promise<void>
  find(node: ClusterNode): void | Promise<void>
}
const losses: Record<string, Loss> = {
  frozen: { lose: (node) => node.freeze(), find: (node) => node.thaw() },
  killed: { lose: (node) => node.kill(), find: (node) => node.restart() },
}

/** A cluster for each test, and what the cases ask of it. */
function rig(clients: ShardClients, replicas: number) {
  let cluster: RedisCluster
  const caches: Cache[] = []
  beforeEach(async () => {
    cluster = await startRedisCluster({
      replicas,
      args: ['--cluster-require-full-coverage', 'no'],
    })
  }, 60_000)
  afterEach(async () => {
    for (const node of cluster.nodes) node.thaw()
    await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
    clients.end()
    await cluster.stop()
  })

  /** One process: its loads by key, and which breakers have moved. */
  const open = async (bus: ClusterNode, options: Partial<CacheOptions> = {}) => {
    const store = await clients.store(cluster, bus)
    const cache = createCache({
      namespace: 'suite', ttl: '5m', store, storeTimeout, connectTimeout: '10s', memory: false,
      ...options,
    }) // prettier-ignore
    caches.push(cache)
    await whole(cache)
    const breakers: CacheEvents['breaker'][] = []
    cache.on('breaker', (event) => breakers.push(event))
    const loads: string[] = []
    const load = (key: string): string => {
      loads.push(key)
      return `${key} ${++versions}`
    }
    return { cache, breakers, loads, items: cache.define({ name: 'item', load }) }
  }
  /** A client may need a second new connection, after 5 s each. */
  const whole = (cache: Cache): Promise<void> =>
    expect.poll(() => cache.health().status, { timeout: 30_000 }).toBe('ok')
  const place = { entry: (key: string) => `r:item:${key}` }
  /** The master that is to be lost, one that stays, and what lies on them. */
  const setUp = async (what: 'the master of the tags' | 'another master') => {
    const ofTags = await cluster.masterOf(slotOf(layout.tagKeys[0]!))
    const masters = await cluster.masters()
    const others = masters.filter((node) => node !== ofTags)
    const lost = what === 'another master' ? others[0]! : ofTags
    const stays = others.find((node) => node !== lost)!
    const [mine, other] = [await open(stays), await open(stays)]
    const keys = await keysByMaster(cluster, 6, place)
    const gone = keys.get(lost)!
    const there = [...keys.values()].flat().filter((key) => !gone.includes(key))
    await mine.items.getMany([...gone, ...there])
    await mine.cache.idle()
    mine.loads.length = 0
    return { lost, mine, other, gone, there }
  }
  return { setUp, whole, cluster: () => cluster }
}
type Rig = ReturnType<typeof rig>
type Process = Awaited<ReturnType<Rig['setUp']>>['mine']

const sources = (process: Process, keys: readonly string[]): Promise<string[]> =>
  Promise.all(
    keys.map(async (key) => {
      const found = await process.items.lookup(key)
      return 'tier' in found ? `${found.outcome} ${found.tier}` : found.outcome
    }),
  )
const all = (keys: readonly string[], what: string): string[] => keys.map(() => what)
const inTime = async <T>(run: () => Promise<T>): Promise<T> => {
  const from = performance.now()
  const result = await run()
  expect(performance.now() - from).toBeLessThan(storeTimeout)
  return result
}

export function lostShardCases(clients: ShardClients): void {
  const { setUp, whole } = rig(clients, 0)
  type SetUp = Awaited<ReturnType<typeof setUp>>
  /** Before anybody knows: hits wait for nobody, the rest for one deadline. */
  const beginsWell = async ({ mine, gone, there }: SetUp, name: string): Promise<void> => {
    const [hits] = await Promise.all([
      inTime(() => sources(mine, there)),
      mine.items.getMany([...gone, ...there]),
    ])
    expect(hits).toEqual(all(there, 'hit store'))
    expect(mine.loads.toSorted()).toEqual(gone.toSorted())
    // At once, or after a moment more of silence where something had just come from it.
    await expect.poll(() => mine.breakers).toEqual([{ state: 'open', server: name }])
    expect(mine.cache.health()).toMatchObject({ status: 'degraded', store: 'up' })
  }
  /** Now it is known. */
  const goesOn = async ({ mine, gone, there }: SetUp, rounds: number): Promise<void> => {
    for (let round = 0; round < rounds; round += 1) {
      await sleep(600)
      mine.loads.length = 0
      await inTime(() => mine.items.getMany([...there, ...gone]))
      expect(mine.loads.toSorted()).toEqual(gone.toSorted())
      expect(await inTime(() => sources(mine, there))).toEqual(all(there, 'hit store'))
    }
  }
  const comesBack = async ({ mine, other, gone, there }: SetUp, name: string): Promise<void> => {
    await whole(mine.cache)
    await whole(other.cache)
    expect(mine.breakers.at(-1)).toEqual({ state: 'closed', server: name })
    // What was missed has been made up for.
    expect(await sources(other, [gone[0]!])).toEqual(['loaded source'])
    await mine.items.getMany([...gone, ...there])
    await mine.cache.idle()
    for (const process of [mine, other]) {
      expect(await sources(process, [...gone, ...there])).toEqual(
        all([...gone, ...there], 'hit store'),
      )
    }
  }

  it.each(Object.entries(losses))(
    `T102 a master is lost, %s: the others' keys are hits throughout, and its own come back`,
    async (_, { lose, find }) => {
      const it = await setUp('another master')
      const { lost, mine, other, gone, there } = it
      const name = `${lost.connection.host}:${lost.connection.port}`
      await lose(lost)
      await beginsWell(it, name)
      // For longer than it takes to become deaf.
      await goesOn(it, 12)
      expect(mine.breakers).toEqual([{ state: 'open', server: name }])

      // Leases, publishes and invalidations of the others' keys.
      await mine.items.invalidateMany(there)
      expect(await sources(mine, there)).toEqual(all(there, 'loaded source'))
      await mine.cache.idle()
      expect(await sources(other, there)).toEqual(all(there, 'hit store'))
      const mixed = mine.items.invalidateMany([there[0]!, gone[0]!])
      await expect(mixed).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
      expect(await sources(other, [there[0]!])).toEqual(['loaded source'])

      await find(lost)
      await comesBack(it, name)
    },
  )

  it.each(Object.entries(losses))(
    `T102 the master of the tags is lost, %s: hits until what was changed may have been missed`,
    async (_, { lose, find }) => {
      const it = await setUp('the master of the tags')
      const { lost, mine, gone, there } = it
      const name = `${lost.connection.host}:${lost.connection.port}`
      await lose(lost)
      await beginsWell(it, name)
      await goesOn(it, 2)

      await expect.poll(() => mine.cache.health().bus, { timeout: 8_000 }).toBe('silent')
      for (let round = 0; round < 3; round += 1) {
        await sleep(300)
        expect(await inTime(() => sources(mine, there))).toEqual(all(there, 'loaded source'))
      }
      const missed = mine.items.invalidate(gone[0]!)
      await expect(missed).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })

      await find(lost)
      await comesBack(it, name)
    },
  )
}

export function heirCases(clients: ShardClients): void {
  const { setUp, whole, cluster } = rig(clients, 3)

  it('T102 a replica takes its place: hits elsewhere all the while, and what was missed is made up for', async () => {
    const { lost, mine, other, gone, there } = await setUp('another master')
    const before = await other.items.get(gone[0]!)
    lost.freeze()
    await mine.items.getMany(gone)
    const change = mine.items.invalidate(gone[0]!)
    await expect(change).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    let taken = false
    const succession = cluster()
      .successorOf(lost)
      .then(() => (taken = true))
    while (!taken) {
      expect(await inTime(() => sources(mine, there))).toEqual(all(there, 'hit store'))
      await sleep(100)
    }
    await succession
    await whole(mine.cache)
    // The other process finds out by itself, when it asks.
    await other.items.getMany(gone)
    await whole(other.cache)
    expect(await other.items.get(gone[0]!)).not.toBe(before)
    await other.cache.idle()
    expect(await sources(mine, [...gone, ...there])).toEqual(all([...gone, ...there], 'hit store'))
  })
}
