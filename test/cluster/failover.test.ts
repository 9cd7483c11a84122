// A master dies or freezes, and its replica takes its place.

import { startRedisCluster, type ClusterNode, type RedisCluster } from '@breakwater/rig'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { clusterCachesOn } from '../support/cluster-caches.ts'
import { well } from '../support/well.ts'
import { keysByMaster, spreadKeys, slotOfKey } from '../support/cluster-keys.ts'
import { newestMajor } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'
import { truthOf, type Truth } from '../support/truth.ts'

const clientOptions = { redisOptions: { password: 'secret' } }
const place = { entry: (key: string) => `r:item:${key}` }

async function takesChanges(truth: Truth, keys: readonly string[]): Promise<void> {
  await expect
    .poll(() => truth.changeAll(keys).then(() => 'taken', String), { timeout: 60_000 })
    .toBe('taken')
  await truth.settles(keys)
}

describe.each(newestMajor)('a master that goes, with $major', { timeout: 180_000 }, (major) => {
  let cluster: RedisCluster
  const caches = clusterCachesOn(() => cluster, major)
  beforeEach(async () => {
    cluster = await startRedisCluster({ password: 'secret' })
  }, 60_000)
  afterEach(async () => {
    await caches.end()
    await cluster.stop()
  })

  it('killed: values are served throughout, and everything works again', async () => {
    const [mine, other] = await caches.several(2, { storeTimeout: '200ms', clientOptions })
    const truth = truthOf(mine!, other!)
    const keys = await spreadKeys(cluster, 12, place)
    const slot = slotOfKey(keys[0]!, place)
    const told = await truth.traffic(keys, async () => {
      await sleep(300)
      const master = await cluster.masterOf(slot)
      await master.kill()
      const heir = await cluster.successorOf(master)
      await sleep(500)
      await master.restart()
      await cluster.settled()
      await sleep(500)
      await cluster.failOver(master)
      expect(heir).not.toBe(master)
      await sleep(500)
    })
    expect(told.errors).toEqual([])
    await well(mine!, other!)
    await takesChanges(truth, keys)
  })

  it('frozen: each read waits for a deadline at most, and everything works again', async () => {
    const [mine, other] = await caches.several(2, { storeTimeout: '200ms', clientOptions })
    const truth = truthOf(mine!, other!)
    const keys = await spreadKeys(cluster, 12, place)
    const master = await cluster.masterOf(slotOfKey(keys[0]!, place))
    const told = await truth.traffic(keys, async () => {
      await sleep(300)
      master.freeze()
      await cluster.successorOf(master)
      await until(() => mine!.health().status === 'ok' && other!.health().status === 'ok')
      await sleep(1_000)
      master.thaw()
      await cluster.settled()
      await sleep(500)
    })
    expect(told.errors).toEqual([])
    await well(mine!, other!)
    await takesChanges(truth, keys)
  })

  it('what was invalidated and its replica never heard of does not come back', async () => {
    const [mine, other] = await caches.several(2, { storeTimeout: '200ms', clientOptions })
    const truth = truthOf(mine!, other!)
    const [[master, keys]] = (await keysByMaster(cluster, 5, place)) as never as [
      [ClusterNode, string[]],
    ]
    await truth.settles(keys)
    const [replica] = await cluster.replicasOf(master)
    await expect
      .poll(async () => Number(await replica!.ask('DBSIZE')))
      .toBeGreaterThanOrEqual(keys.length)

    await replica!.ask('CONFIG', 'SET', 'masterauth', 'wrong')
    await replica!.ask('CLIENT', 'KILL', 'TYPE', 'MASTER')
    await expect
      .poll(() => replica!.ask('INFO', 'replication'))
      .toContain('master_link_status:down')
    await truth.changeAll(keys)
    await master.kill()
    await cluster.successorOf(master)
    // It still has, or had until it was told, what was invalidated on the other.
    await truth.settles(keys, 8_000)
  })
})
