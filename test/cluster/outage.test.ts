// Whatever the user has set on a cluster client, a master that dies costs a read one deadline and
// fails none; and a whole cluster may go and come back.

import { startRedisCluster, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { clusterCachesOn } from '../support/cluster-caches.ts'
import { well } from '../support/well.ts'
import { slotOfKey, spreadKeys } from '../support/cluster-keys.ts'
import { twoMajors } from '../support/ioredis-majors.ts'
import { sleep } from '../support/open-session.ts'
import { truthOf } from '../support/truth.ts'

const place = { entry: (key: string) => `r:item:${key}` }

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster()
}, 60_000)
afterAll(() => cluster.stop())

const settings: Record<string, object> = {
  'without offline queue': { enableOfflineQueue: false },
  'with auto-pipelining': { enableAutoPipelining: true },
  'that connects when asked': { lazyConnect: true },
  'that retries never': { retryDelayOnFailover: 0, redisOptions: { maxRetriesPerRequest: 0 } },
  'with a command timeout': { redisOptions: { commandTimeout: 20 } },
}

describe.each(twoMajors)('an outage, with $major', { timeout: 180_000 }, (major) => {
  const caches = clusterCachesOn(() => cluster, major)
  const unhandled: unknown[] = []
  const onUnhandled = (error: unknown): void => void unhandled.push(error)
  const setUp = async (clientOptions: object = {}) => {
    process.on('unhandledRejection', onUnhandled)
    const [mine, other] = await caches.several(2, { storeTimeout: '200ms', clientOptions })
    const keys = await spreadKeys(cluster, 9, place)
    return { mine: mine!, other: other!, truth: truthOf(mine!, other!), keys }
  }
  const worksAgain = async ({ mine, other, truth, keys }: Awaited<ReturnType<typeof setUp>>) => {
    await well(mine, other)
    const change = () => truth.changeAll(keys).then(() => 'taken', String)
    await expect.poll(change, { timeout: 60_000 }).toBe('taken')
    await truth.settles(keys)
  }

  afterEach(async () => {
    await caches.end()
    process.removeListener('unhandledRejection', onUnhandled)
    if (unhandled.length > 0)
      throw new Error(`unhandled: ${unhandled.splice(0).map(String).join()}`)
  })

  it.each(Object.entries(settings))('a master dies, for a client %s', async (_, options) => {
    const all = await setUp(options)
    const { truth, keys } = all
    const told = await truth.traffic(keys, async () => {
      const master = await cluster.masterOf(slotOfKey(keys[0]!, place))
      await master.kill()
      await cluster.successorOf(master)
      await sleep(300)
      await master.restart()
      await cluster.settled()
    })
    expect(told.errors).toEqual([])
    await worksAgain(all)
  })

  it('the whole cluster goes and comes back', async () => {
    const all = await setUp()
    const { mine, other, truth, keys } = all
    const told = await truth.traffic(keys, async () => {
      await Promise.all(cluster.nodes.map((node) => node.kill()))
      // Each master's loss is found out by what it is asked.
      await expect
        .poll(() => [mine, other].map((cache) => cache.health().store), { timeout: 10_000 })
        .toEqual(['down', 'down'])
      await sleep(1_500)
      await Promise.all(cluster.nodes.map((node) => node.restart()))
      await cluster.settled()
    })
    expect(told.errors).toEqual([])
    await worksAgain(all)
  })
})
