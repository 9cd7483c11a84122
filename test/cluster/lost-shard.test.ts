// T102: one master is gone and nobody takes its place. What lay on it is an error at its place, and
// the rest is answered; a cache loads what it cannot read, and fails nobody.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { redisStore } from '../../src/redis/ioredis.ts'
import type { IoredisCluster } from '../../src/redis/ioredis-client.ts'
import { ioredisClusterCommands } from '../../src/redis/ioredis-cluster-commands.ts'
import { clusterCachesOn } from '../support/cluster-caches.ts'
import { keysByMaster } from '../support/cluster-keys.ts'
import { clusterClientsOf, twoMajors } from '../support/ioredis-majors.ts'
import { heirCases, lostShardCases, type ShardClients } from '../support/lost-shard-cases.ts'
import { until } from '../support/open-session.ts'

describe.each(twoMajors)('a shard that is lost, with $major', { timeout: 120_000 }, (major) => {
  let cluster: RedisCluster
  const caches = clusterCachesOn(() => cluster, major)
  const clients = clusterClientsOf(() => cluster, major.Cluster)
  beforeEach(async () => {
    const args = ['--cluster-require-full-coverage', 'no']
    cluster = await startRedisCluster({ replicas: 0, args })
  }, 60_000)
  afterEach(async () => {
    await caches.end()
    clients.end()
    await cluster.stop()
  })

  it('is an error at its places, and every other place is answered', async () => {
    const client = clients.make()
    const commands = ioredisClusterCommands(client as never as IoredisCluster)
    await until(() => commands.ready)
    const keys = Array.from({ length: 60 }, (_, n) => `k${n}`)
    for (const key of keys) await client.set(key, key)
    const [lost] = await cluster.masters()
    const owners = await Promise.all(
      keys.map(async (key) => cluster.masterOf(await cluster.slotOf(key))),
    )
    const echo = "return redis.call('GET', KEYS[1])"
    const sha1 = String(await cluster.nodes[0]!.ask('SCRIPT', 'LOAD', echo))
    for (const node of cluster.nodes) await node.ask('SCRIPT', 'LOAD', echo)
    await lost!.kill()

    const calls = keys.map((key) => ({ keys: [key], args: [] }))
    const [read, run] = await Promise.all([commands.mget(keys), commands.evalshaMany(sha1, calls)])
    for (const [n, key] of keys.entries()) {
      for (const reply of [read[n], run[n]]) {
        if (owners[n] === lost) expect(reply).toBeInstanceOf(Error)
        else expect(String(reply)).toBe(key)
      }
    }
  })

  const lose: Record<string, (node: ClusterNode) => void | Promise<void>> = {
    killed: (node) => node.kill(),
    frozen: (node) => node.freeze(),
  }
  it.each(Object.entries(lose))(
    '%s: every key is answered, alone and in a batch',
    async (_, how) => {
      const [cache] = await caches.several(1, { storeTimeout: '200ms', memory: false })
      const items = cache!.define({ name: 'item', load: (key: string) => `loaded ${key}` })
      const keys = await keysByMaster(cluster, 5, { entry: (key) => items.key(key) })
      const all = [...keys.values()].flat()
      const values = all.map((key) => `loaded ${key}`)
      await items.getMany(all)
      await how([...keys.keys()][0]!)
      for (let round = 0; round < 20; round += 1) {
        expect(await items.getMany(all)).toEqual(values)
        expect(await Promise.all(all.map((key) => items.get(key)))).toEqual(values)
      }
    },
  )
})

describe('what a lost shard leaves alone, with ioredis 6', { timeout: 120_000 }, () => {
  const [major] = twoMajors
  const made: { disconnect(): void }[] = []
  const clients: ShardClients = {
    store: ({ addresses }, bus) => {
      const client = new major!.Cluster(addresses, {}).on('error', () => {})
      const ear = new major!.Redis(bus.connection).on('error', () => {})
      made.push(client, ear)
      return redisStore({ client, bus: ear })
    },
    end: () => {
      for (const client of made.splice(0)) client.disconnect()
    },
  }
  describe('without replicas', () => {
    lostShardCases(clients)
  })
  describe('with replicas', () => {
    heirCases(clients)
  })
})
