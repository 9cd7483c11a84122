// T105: a slot moves from master to master while its keys are read, changed and loaded. Nobody gets
// MOVED or ASK thrown, and every value is right. While some of a slot's keys are here and some are
// there, Redis runs no script on two keys (TRYAGAIN), so that a change may be refused, and repeated.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clusterCachesOn, type ClusterCache } from '../support/cluster-caches.ts'
import { keysInSlot, slotOfKey, spreadKeys } from '../support/cluster-keys.ts'
import { twoMajors } from '../support/ioredis-majors.ts'
import { sleep } from '../support/open-session.ts'
import { truthOf } from '../support/truth.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 0 })
})
afterAll(() => cluster.stop())

const settings: Record<string, object> = {
  'as it comes': {},
  'with auto-pipelining': { enableAutoPipelining: true },
  'that follows slowly': { retryDelayOnMoved: 20 },
}

describe.each(twoMajors)('a slot that moves, with $major', { timeout: 120_000 }, (major) => {
  const caches = clusterCachesOn(() => cluster, major)
  const setUp = async (clientOptions: object) => {
    const [mine, other] = await caches.several(2, { clientOptions })
    const place = { entry: (key: string) => `r:item:${key}` }
    const others = await spreadKeys(cluster, 6, place)
    const slot = slotOfKey(others[0]!, place)
    const keys = [...keysInSlot(slot, 6, place), ...others.slice(1)]
    return { truth: truthOf(mine!, other!), keys, slot, both: [mine!, other!] }
  }
  const next = async (slot: number): Promise<ClusterNode> => {
    const masters = await cluster.masters()
    const present = await cluster.masterOf(slot)
    return masters[(masters.indexOf(present) + 1) % masters.length]!
  }
  /** As they came. (After 16 of them ioredis gives up, with an error of its own.) */
  const misroutings = (both: readonly ClusterCache[]) =>
    both.flatMap(({ faults }) =>
      faults.filter((fault) => /^\w+: \w+: (MOVED|ASK|CROSS)/.test(fault)),
    )

  afterEach(() => caches.end())

  it.each(Object.entries(settings))(
    'a client %s: from one master to the next',
    async (_, options) => {
      const { truth, keys, slot, both } = await setUp(options)
      const told = await truth.traffic(keys, async () => {
        for (let turn = 0; turn < 4; turn += 1) {
          const to = await next(slot)
          const move = await cluster.startSlotMove(slot, to)
          // Some of its keys are here and some are there, for a while.
          for (let part = 0; part < 5; part += 1) {
            await sleep(40)
            await move.moveKeys(2)
          }
          await move.finish()
          await sleep(100)
        }
      })
      expect(told.errors).toEqual([])
      expect(misroutings(both)).toEqual([])
      expect(Math.min(told.reads, told.changes)).toBeGreaterThan(20)
      await truth.settles(keys)
    },
  )

  it('behind a NAT: by names that the client alone can translate', async () => {
    const natMap = (name: string) => ({ host: '127.0.0.1', port: Number(name.split(':')[1]) })
    for (const node of cluster.nodes) {
      await node.ask('CONFIG', 'SET', 'cluster-announce-hostname', `node-${node.port}.invalid`)
      await node.ask('CONFIG', 'SET', 'cluster-preferred-endpoint-type', 'hostname')
    }
    try {
      const { truth, keys, slot, both } = await setUp({ natMap })
      const told = await truth.traffic(keys, async () => {
        for (let turn = 0; turn < 3; turn += 1) {
          const move = await cluster.startSlotMove(slot, await next(slot))
          await sleep(50)
          await move.moveKeys(3)
          await sleep(50)
          await move.finish()
          await sleep(100)
        }
      })
      expect(told.errors).toEqual([])
      expect(misroutings(both)).toEqual([])
      await truth.settles(keys)
    } finally {
      for (const node of cluster.nodes) {
        await node.ask('CONFIG', 'SET', 'cluster-preferred-endpoint-type', 'ip')
      }
    }
  })

  it('many slots move at once, and are moved back', async () => {
    const { truth, keys, both } = await setUp({})
    const slots = [...new Set(keys.map((key) => slotOfKey(`r:item:${key}`)))]
    const told = await truth.traffic(keys, async () => {
      for (let turn = 0; turn < 3; turn += 1) {
        for (const slot of slots) await cluster.moveSlot(slot, await next(slot))
      }
    })
    expect(told.errors).toEqual([])
    expect(misroutings(both)).toEqual([])
    await truth.changeAll(keys)
    await truth.settles(keys)
  })
})
