// Changes by tag on a real Redis: what they cost, what is left of them when their key is lost, and
// whom they do not disturb.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { TestClient } from '../support/ioredis-majors.ts'
import { realClock, sleep } from '../support/open-session.ts'
import { epochsKey, tagFleet } from '../support/tag-fleet.ts'

let server: RedisServer
const fleet = tagFleet(() => server, 'tags')
const key = epochsKey('tags')

beforeAll(async () => {
  server = await startRedisServer()
})
afterEach(() => fleet.end())
afterAll(() => server.stop())

/** How often each command has run since CONFIG RESETSTAT, inside scripts too. */
async function calls(admin: TestClient): Promise<Record<string, number>> {
  const stats = await admin.info('commandstats')
  return Object.fromEntries(
    [...stats.matchAll(/^cmdstat_(\S+?):calls=(\d+)/gm)].map(([, name, n]) => [name, Number(n)]),
  )
}

describe('a hundred thousand tagged entries', () => {
  it(
    'T072 are invalidated in one round trip, for every process',
    { timeout: 120_000 },
    async () => {
      const admin = fleet.admin()
      const [a, b] = [await fleet.process(), await fleet.process()]
      await a.item.get(0)
      await a.cache.idle()
      const [name] = (await admin.keys('bw:tags:*:v')) as [string]
      const frame = await admin.getBuffer(name)
      const many = 100_000
      for (let from = 1; from < many; from += 5_000) {
        const pipeline = admin.pipeline()
        for (let id = from; id < from + 5_000; id++) {
          pipeline.set(name.replace('#0', `#${id}`), frame!, 'PX', 3_600_000)
        }
        await pipeline.exec()
      }
      const some = Array.from({ length: 200 }, (_, n) => n * 499 + 3)
      for (const id of some) expect(await b.item.lookup(id)).toMatchObject({ outcome: 'hit' })
      expect(fleet.source.loads).toBe(1)

      fleet.source.version = 2
      const c = await fleet.process()
      await admin.config('RESETSTAT')
      await a.cache.invalidateTags('all')
      const { zadd, get, set, del, unlink, scan, keys } = await calls(admin)
      expect(zadd).toBe(1)
      expect([get, set, del, unlink, scan, keys]).toEqual(Array(6).fill(undefined))
      await expect.poll(async () => (await b.item.lookup(some[0]!)).outcome).toBe('loaded')
      const cold = await fleet.process()
      for (const [n, id] of some.entries()) {
        const { item } = [a, b, c, cold][n % 4]!
        expect((await item.get(id)).version).toBe(2)
      }
      expect(fleet.source.loads).toBe(1 + some.length)
      // What was loaded since is kept.
      for (const id of some) {
        expect(await cold.item.lookup(id)).toMatchObject({ outcome: 'hit', value: { version: 2 } })
      }
    },
  )
})

describe('the state of tags', () => {
  it(
    'is bounded, and right for who knows it and for who does not',
    { timeout: 120_000 },
    async () => {
      const admin = fleet.admin()
      const a = await fleet.process()
      for (const id of [1, 2, 3]) await a.item.get(id)
      fleet.source.version = 2
      await a.cache.invalidateTags('item:1')
      const labels = Array.from({ length: 104_000 }, (_, n) => `some other tag ${n}`)
      await a.cache.invalidateTags(labels.slice(0, 52_000))
      // Of the middle: among the labels that are remembered, and not among those that one answer holds.
      for (const id of [4, 6]) await a.item.get(id)
      fleet.source.version = 3
      await a.cache.invalidateTags(['item:4', 'item:6'])
      await a.item.get(5)
      const before = process.memoryUsage().heapUsed
      await a.cache.invalidateTags(labels.slice(52_000))
      expect(process.memoryUsage().heapUsed - before).toBeLessThan(60e6)
      expect(await admin.zcard(key)).toBeLessThanOrEqual(100_001)
      expect(Number(await admin.memory('USAGE', key, 'SAMPLES', 0))).toBeLessThan(20e6)

      const cold = await fleet.process()
      expect((await cold.item.get(6)).version).toBe(3)
      for (const { item } of [a, cold]) {
        expect((await item.get(1)).version).toBe(3)
        expect((await item.get(4)).version).toBe(3)
      }
      // Loaded after the floor that stands now, although not one of its tags is in one answer.
      const { loads } = fleet.source
      expect(await cold.item.lookup(5)).toMatchObject({ outcome: 'hit' })
      expect(fleet.source.loads).toBe(loads)
      // Of before the floor: nobody can tell any more.
      expect(await cold.item.lookup(2)).toMatchObject({ outcome: 'loaded' })
      for (let n = 0; n < 3; n++) await cold.item.get(2)
      expect(fleet.source.loads).toBe(loads + 1)
    },
  )

  it.each(['deleted', 'deleted, and a process starts before anything else happens'])(
    '%s in the middle of traffic: no old value is served',
    { timeout: 60_000 },
    async (how) => {
      const admin = fleet.admin()
      const all = [await fleet.process(), await fleet.process(), await fleet.process()]
      const ids = [1, 2, 3, 4, 5, 6, 7, 8]
      const floor = all.map(() => 1)
      const old: string[] = []
      let ended = false
      const traffic = all.map(async ({ item }, p) => {
        const seen = new Map<number, number>()
        while (!ended) {
          const id = ids[Math.floor(Math.random() * ids.length)]!
          const least = Math.max(floor[p]!, seen.get(id) ?? 0)
          const { version } = await item.get(id)
          if (version < least) old.push(`process ${p}: ${id} at ${version} after ${least}`)
          seen.set(id, version)
          await sleep(1)
        }
      })
      for (let round = 0; round < 25; round++) {
        await sleep(10)
        const p = round % all.length
        const { cache } = all[p]!
        const version = ++fleet.source.version
        if (round % 2 === 0) await admin.del(key)
        await (round % 3 === 0 ? cache.clear() : cache.invalidateTags('all'))
        floor[p] = version
        if (round % 2 === 1) await admin.del(key)
        if (how === 'deleted') continue
        const cold = await fleet.process()
        for (const id of ids) {
          const got = await cold.item.get(id)
          if (got.version < version) old.push(`a cold process: ${id} at ${got.version}`)
        }
        await cold.cache.close()
      }
      await sleep(100)
      ended = true
      await Promise.all(traffic)
      for (const { item } of all) {
        for (const id of ids) expect((await item.get(id)).version).toBe(fleet.source.version)
      }
      expect(old).toEqual([])
    },
  )
})

describe('clocks that differ', () => {
  it.each([-15 * 60_000, 15 * 60_000])(
    'T070 a process whose clock is %i ms off changes by tag, and hears of changes, like any other',
    async (ms) => {
      const clock = { ...realClock, now: () => realClock.now() + ms }
      const [right, wrong] = [await fleet.process(), await fleet.process({ clock })]
      const both = [right, wrong]
      for (const { item } of both) expect((await item.get(1)).version).toBe(1)
      for (const [version, by] of [
        [2, wrong],
        [3, right],
      ] as const) {
        fleet.source.version = version
        await by.cache.invalidateTags('item:1')
        expect((await by.item.get(1)).version).toBe(version)
        for (const { item } of both) {
          await expect.poll(async () => (await item.get(1)).version).toBe(version)
        }
      }
      const { loads } = fleet.source
      const cold = await fleet.process()
      for (const { item } of [...both, cold]) {
        expect(await item.lookup(1)).toMatchObject({ outcome: 'hit' })
      }
      expect(fleet.source.loads).toBe(loads)
    },
  )
})

describe('others on the server', () => {
  it('T067 T076 keep their entries in memory: other prefixes, databases, namespaces', async () => {
    const plain = await fleet.process()
    const others = [
      await fleet.process({ client: { keyPrefix: 'app:' } }),
      await fleet.process({ client: { db: 1 } }),
      await fleet.process({ namespace: 'tags2' }),
      await fleet.process({ namespace: 'tags', client: { keyPrefix: 'app:', db: 1 } }),
    ]
    const all = [plain, ...others]
    for (const { item } of all) await item.get(1)
    await plain.cache.clear()
    await plain.item.clear()
    await plain.cache.invalidateTags(['all', 'item:1'])
    await plain.cache.expireTags('group:1')
    await sleep(100)
    for (const { item } of others) {
      expect(await item.lookup(1)).toMatchObject({ outcome: 'hit', tier: 'memory' })
    }
    expect(await plain.item.lookup(1)).toMatchObject({ outcome: 'loaded' })
  })

  it('see only what a cache is for: no KEYS, no SCAN, no FLUSH', { timeout: 60_000 }, async () => {
    const monitor = await fleet.admin().monitor()
    const commands = new Set<string>()
    monitor.on('monitor', (_time: string, [command]: string[]) => {
      commands.add(command!.toLowerCase())
    })
    const [a, b] = [await fleet.process(), await fleet.process({ bus: false })]
    for (const { cache, item } of [a, b]) {
      await Promise.all([1, 2, 3].map((id) => item.get(id)))
      await cache.invalidateTags(['all', 'item:1'], { settle: '1s' })
      await item.invalidateMany([1, 2], { settle: '1s' })
      await item.get(1)
      await cache.expireTags('all')
      await item.expire(2)
      await item.set(3, { id: 3, version: 3 })
      await item.clear()
      await item.expireAll()
      await cache.clear()
      await cache.expireAll()
      await item.get(1)
      await cache.close()
    }
    await sleep(100)
    monitor.disconnect()
    const foreign = [...commands].filter((one) => /keys|scan|flush|config|eval$/.test(one))
    expect(foreign.filter((one) => one !== 'eval')).toEqual([])
    expect(commands.has('evalsha')).toBe(true)
  })
})

it.each(['e', 's'])(
  'I6 something else under a key of tags (%s) takes neither the store nor an invalidation away',
  async (which) => {
    const of = epochsKey('tags').replace(/e$/, which)
    const admin = fleet.admin()
    const a = await fleet.process()
    expect((await a.item.get(1)).version).toBe(1)
    await a.cache.idle()
    await admin.set(of, 'not ours')
    fleet.source.version = 2
    const change = a.cache.invalidateTags('all', { settle: '100ms' })
    expect(await change.then(() => 'taken', String)).toBe('taken')
    expect((await a.item.get(1)).version).toBe(2)
    const cold = await fleet.process()
    expect((await cold.item.get(1)).version).toBe(2)
    expect(a.cache.health()).toMatchObject({ status: 'ok', store: 'up' })
  },
)
