// Every path of a cache on keys of all masters, with two caches that are two processes.

import { startRedisCluster, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createLayout } from '../../src/redis/layout.ts'
import { slotOf } from '../../src/redis/slots.ts'
import { nastyKeys } from '../../src/testing/store-rig.ts'
import { clusterCachesOn, type ClusterCache } from '../support/cluster-caches.ts'
import { slotOfKey, spreadKeys } from '../support/cluster-keys.ts'
import { majors } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'

let cluster: RedisCluster
beforeAll(async () => {
  cluster = await startRedisCluster({ replicas: 3 })
})
afterAll(() => cluster.stop())

/** Somebody has asked for the lease of this entry, and was told that it is not free. */
async function isAwaited(key: string): Promise<boolean> {
  const master = await cluster.masterOf(slotOfKey(key))
  const { leaseKey } = createLayout({ namespace: 'suite', id: '', db: 0, keyPrefix: '' })
  return /^bw1 \S+ [1-9]/.test(String(await master.ask('GET', leaseKey(key))))
}

describe.each(majors)('on keys of all masters, with $major', { timeout: 60_000 }, (major) => {
  const caches = clusterCachesOn(() => cluster, major)
  const loads = new Map<string, number>()
  const versions = new Map<string, number>()
  const load = async (key: string) => {
    loads.set(key, (loads.get(key) ?? 0) + 1)
    await sleep(20)
    return `${key} ${versions.get(key) ?? 0}`
  }
  const itemsOf = (cache: ClusterCache) => cache.define({ name: 'item', load, tags: ['all'] })
  const two = async (options = {}) => {
    const [a, b] = (await caches.several(2, options)) as [ClusterCache, ClusterCache]
    const [itemsA, itemsB] = [itemsOf(a), itemsOf(b)]
    const keys = await spreadKeys(cluster, 12, { entry: (key) => itemsA.key(key) })
    return { a, b, itemsA, itemsB, keys }
  }
  const change = (keys: readonly string[]) => {
    for (const key of keys) versions.set(key, (versions.get(key) ?? 0) + 1)
  }
  const now = (keys: readonly string[]) => keys.map((key) => `${key} ${versions.get(key) ?? 0}`)
  const loadsOf = (keys: readonly string[]) => keys.map((key) => loads.get(key) ?? 0)
  const each = <T>(keys: readonly string[], value: T) => keys.map(() => value)

  afterEach(async () => {
    await caches.end()
    for (const master of await cluster.masters()) await master.ask('FLUSHALL')
    loads.clear()
  })

  it('one load for each key, in whatever process it is asked for', async () => {
    const { a, b, itemsA, itemsB, keys } = await two()
    const asked = await Promise.all(
      keys.flatMap((key) => [itemsA.get(key), itemsB.get(key), itemsA.get(key), itemsB.get(key)]),
    )
    expect(asked).toEqual(now(keys).flatMap((value) => each([1, 2, 3, 4] as never, value)))
    expect(loadsOf(keys)).toEqual(each(keys, 1))
    for (const master of await cluster.masters()) {
      expect(Number(await master.ask('DBSIZE'))).toBeGreaterThanOrEqual(4)
    }
    expect([...a.faults, ...b.faults]).toEqual([])
  })

  it('T102 a batch is answered in order, from all masters, and loads what is missing', async () => {
    const { a, b, itemsA, itemsB, keys } = await two()
    expect(await itemsA.getMany(keys.slice(0, 6))).toEqual(now(keys.slice(0, 6)))
    const asked = [...keys, ...keys.toReversed()]
    expect(await itemsB.getMany(asked)).toEqual(now(asked))
    expect(loadsOf(keys)).toEqual(each(keys, 1))
    expect(b.counters()['item']).toMatchObject({ hitStore: 6 })
    expect([...a.faults, ...b.faults]).toEqual([])
  })

  it.each(['one by one', 'in one call'])('invalidated %s, nothing is served again', async (how) => {
    const { a, b, itemsA, itemsB, keys } = await two()
    await Promise.all([itemsA.getMany(keys), itemsB.getMany(keys)])
    change(keys)
    if (how === 'in one call') await itemsA.invalidateMany(keys)
    else await Promise.all(keys.map((key) => itemsA.invalidate(key)))
    expect(await itemsA.getMany(keys)).toEqual(now(keys))
    await expect.poll(() => itemsB.getMany(keys), { timeout: 20_000 }).toEqual(now(keys))
    expect(loadsOf(keys)).toEqual(each(keys, 2))
    expect([...a.faults, ...b.faults]).toEqual([])
  })

  it('expired, stale answers are served while each is loaded once', async () => {
    const { a, b, itemsA, itemsB, keys } = await two({ staleWhileRevalidate: '5m' })
    const old = now(keys)
    await Promise.all([itemsA.getMany(keys), itemsB.getMany(keys)])
    change(keys)
    await itemsB.expireMany(keys)
    expect(await itemsB.getMany(keys)).toEqual(old)
    for (const items of [itemsA, itemsB]) {
      await expect.poll(() => items.getMany(keys), { timeout: 20_000 }).toEqual(now(keys))
    }
    expect(loadsOf(keys)).toEqual(each(keys, 2))
    expect([...a.faults, ...b.faults]).toEqual([])
  })

  it('set and refresh reach the other process, peek and lookup see what is there', async () => {
    const { a, b, itemsA, itemsB, keys } = await two()
    for (const key of keys) expect(await itemsB.peek(key)).toEqual({ state: 'missing' })
    await Promise.all(keys.map((key) => itemsA.set(key, `set ${key}`)))
    for (const key of keys) {
      expect(await itemsB.lookup(key)).toMatchObject({ outcome: 'hit', value: `set ${key}` })
      expect(await itemsB.peek(key)).toMatchObject({ state: 'fresh', value: `set ${key}` })
    }
    expect(loadsOf(keys)).toEqual(each(keys, 0))
    expect(await Promise.all(keys.map((key) => itemsB.refresh(key)))).toEqual(now(keys))
    expect(loadsOf(keys)).toEqual(each(keys, 1))
    await itemsB.invalidateMany(keys)
    expect(await itemsB.getMany(keys)).toEqual(now(keys))
    await expect.poll(() => itemsA.getMany(keys), { timeout: 20_000 }).toEqual(now(keys))
    expect([...a.faults, ...b.faults]).toEqual([])
  })

  it.each(['cleared', 'cleared as a resource', 'invalidated by tag'])(
    'T106 T132 %s, nothing of any master is served again, and nothing else is touched',
    async (how) => {
      const { a, b, itemsA, itemsB, keys } = await two()
      const foreign = Array.from({ length: 12 }, (_, n) => `foreign ${n}`)
      const ownerOf = (key: string) => cluster.masterOf(slotOf(key))
      for (const key of foreign) await (await ownerOf(key)).ask('SET', key, 'mine')
      await Promise.all([itemsA.getMany(keys), itemsB.getMany(keys)])
      change(keys)
      if (how === 'cleared') await a.clear()
      else if (how === 'cleared as a resource') await itemsA.clear()
      else await a.invalidateTags('all')
      expect(await itemsA.getMany(keys)).toEqual(now(keys))
      await expect.poll(() => itemsB.getMany(keys), { timeout: 20_000 }).toEqual(now(keys))
      expect(loadsOf(keys)).toEqual(each(keys, 2))
      for (const key of foreign) expect(await (await ownerOf(key)).ask('GET', key)).toBe('mine')
      expect([...a.faults, ...b.faults]).toEqual([])
    },
  )

  it('who waits is woken, with the bus of each process on another server', async () => {
    const [, second] = await cluster.masters()
    const buses = [cluster.nodes.at(-1)!, second!].map((node) => {
      const bus = new major.Redis({ ...node.connection })
      bus.on('error', () => {})
      return bus
    })
    const [holder, waiter] = buses.map((bus) => caches.make({ bus, lease: '60s' }))
    await until(() => [holder, waiter].every((cache) => cache!.health().status === 'ok'))
    let finish = () => {}
    const finished = new Promise<void>((resolve) => (finish = resolve))
    const slow = holder!.define({
      name: 'item',
      load: async (key: string) => {
        await load(key)
        await finished
        return key
      },
    })
    const fast = waiter!.define({ name: 'item', load })
    const keys = await spreadKeys(cluster, 12, { entry: (key) => slow.key(key) })
    const held = Promise.all(keys.map((key) => slow.get(key)))
    await until(() => loadsOf(keys).every((count) => count === 1))
    const waited = Promise.all(keys.map((key) => fast.lookup(key)))
    for (const key of keys) await expect.poll(() => isAwaited(slow.key(key))).toBe(true)
    finish()
    expect(await held).toEqual(keys)
    expect((await waited).map(({ outcome }) => outcome)).toEqual(each(keys, 'waited'))
    expect(loadsOf(keys)).toEqual(each(keys, 1))
    for (const bus of buses) bus.disconnect()
  })

  it('T108 any text is a key, braces too, and the keys lie on all masters', async () => {
    const { a, b, itemsA, itemsB } = await two()
    expect(await itemsA.getMany(nastyKeys)).toEqual(now(nastyKeys))
    expect(await itemsB.getMany(nastyKeys)).toEqual(now(nastyKeys))
    await itemsB.invalidateMany(nastyKeys)
    expect(await itemsB.getMany(nastyKeys)).toEqual(now(nastyKeys))
    expect(loadsOf(nastyKeys)).toEqual(each(nastyKeys, 2))
    expect([...a.faults, ...b.faults]).toEqual([])
  })

  it('T097 scripts that every server has forgotten are sent again', async () => {
    const { a, b, itemsA, itemsB, keys } = await two()
    for (let round = 1; round <= 3; round += 1) {
      for (const node of cluster.nodes) await node.ask('SCRIPT', 'FLUSH', 'SYNC')
      change(keys)
      await itemsA.invalidateMany(keys)
      expect(await itemsA.getMany(keys)).toEqual(now(keys))
      await expect.poll(() => itemsB.getMany(keys), { timeout: 20_000 }).toEqual(now(keys))
      expect(loadsOf(keys)).toEqual(each(keys, round))
    }
    expect([...a.faults, ...b.faults]).toEqual([])
  })
})
