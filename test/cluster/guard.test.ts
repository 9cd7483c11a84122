// The shared guard in a cluster: its shards lie on several servers. BREAKWATER_BLOOM_MODULE: as in
// test/guard/bloom-guard.test.ts.

import { startRedisCluster, type RedisCluster } from '@breakwater/rig'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  guardCases,
  ids,
  isReady,
  refusedOf,
  sharedGuardCases,
  type GuardRig,
  type TestGuard,
} from '../guard/guard-suite.ts'
import { clusterClientsOf, newestMajor } from '../support/ioredis-majors.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { until } from '../support/open-session.ts'
import { freshName, quickGuard } from '../support/quick-guard.ts'

const bloomModule = process.env['BREAKWATER_BLOOM_MODULE'] ?? ''

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster({
    replicas: 1,
    args: bloomModule === '' ? [] : ['--loadmodule', bloomModule],
  })
})
afterAll(() => cluster.stop())

const opened: { close(): Promise<void> }[] = []
afterAll(async () => {
  await Promise.all(opened.splice(0).map((guard) => guard.close()))
})

type OpenOptions = Parameters<GuardRig['open']>[0] & { replica?: boolean; capacity?: number }

function rigOf(client: () => Promise<object>) {
  const open = async ({ key, name = freshName(), ...rest }: OpenOptions = {}) => {
    const options = { ...rest, client: await client(), key: key as never, name }
    const guard = quickGuard<unknown>(options)
    opened.push(guard)
    return guard as TestGuard
  }
  return { kind: bloomModule === '' ? 'bitmap' : 'bloom', open } as const
}

function clusterCases(rig: () => ReturnType<typeof rigOf>): void {
  guardCases(rig)
  sharedGuardCases(rig)

  it('spreads its shards over the servers, and refuses by each', async () => {
    const name = freshName()
    const guard = await rig().open({ name, capacity: 200_000 })
    await guard.rebuild(ids(0, 20_000))
    const keys = await Promise.all(
      cluster.nodes.map((node) => node.ask('KEYS', `bw-guard:{${name}:*`) as Promise<string[]>),
    )
    expect(keys.filter((some) => some.length > 0).length).toBeGreaterThan(1)
    expect(await refusedOf(guard, ids(0, 2_000))).toEqual([])
    expect((await refusedOf(guard, ids(50_000, 52_000))).length).toBeGreaterThan(1_950)

    const [lost = ''] = keys.flat().filter((key) => !key.includes('built'))
    const node = cluster.nodes[keys.findIndex((some) => some.includes(lost))]!
    await node.ask('DEL', lost)
    expect(await refusedOf(guard, ids(0, 2_000))).toEqual([])
    expect(guard.info().state).toBe('lost')
    const refused = await refusedOf(guard, ids(50_000, 52_000))
    // What lies in the others is refused as before.
    expect(refused.length).toBeGreaterThan(100)
    expect(refused.length).toBeLessThan(1_950)
  })

  it('keeps copies, which hear of what is added through any of its servers', async () => {
    const name = freshName()
    const a = await rig().open({ name, replica: true })
    const b = await rig().open({ name, replica: true })
    await a.rebuild(ids(0, 100))
    await isReady(b)
    await until(() => b.know('nothing') === false)
    for (const id of ids(100, 130)) await a.add(id)
    await until(() => ids(0, 130).every((id) => b.know(id) === true))
  })
}

describe.concurrent.each(newestMajor)('a shared guard in a cluster, by $major', ({ Cluster }) => {
  const clients = clusterClientsOf(() => cluster, Cluster)
  const rig = rigOf(async () => clients.make({ enableAutoPipelining: true }))
  afterAll(() => clients.end())
  clusterCases(() => rig)
})

describe.concurrent.each(usualFlavours.slice(1))(
  'a shared guard in a cluster, by $flavour',
  (flavour) => {
    const clients = nodeRedisClients(flavour)
    const rig = rigOf(() => clients.cluster(cluster))
    afterAll(() => clients.end())
    clusterCases(() => rig)
  },
)

it('a guard by a client that reads from replicas asks masters, where nothing lags', async () => {
  const clients = clusterClientsOf(() => cluster, newestMajor[0]!.Cluster)
  const rig = rigOf(async () => clients.make({ scaleReads: 'slave' }))
  const guard = await rig.open()
  const masters = new Set((await cluster.masters()).map(({ port }) => port))
  const replicas = cluster.nodes.filter(({ port }) => !masters.has(port))
  expect(replicas).toHaveLength(1)
  for (const replica of replicas) await replica.ask('CONFIG', 'RESETSTAT')
  await guard.rebuild(ids(0, 500))
  for (const id of ids(500, 540)) {
    await guard.add(id)
    expect(await refusedOf(guard, [id])).toEqual([])
  }
  expect((await refusedOf(guard, ids(2_000, 3_000))).length).toBeGreaterThan(950)
  for (const replica of replicas) {
    const stats = String(await replica.ask('INFO', 'commandstats'))
    expect(stats).not.toMatch(/cmdstat_(bitfield_ro|hget|getrange):/)
  }
  clients.end()
})
