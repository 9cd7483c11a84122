// Changes by tag for processes that miss them, on a real Redis: just started, cut off with and
// without a word, without a bus, with more missed than one answer tells; and
// epochs that Redis evicts.

import { startRedisServer, type RedisServer, startTcpProxy, type TcpProxy } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { sleep, until } from '../support/open-session.ts'
import { epochsKey, tagFleet } from '../support/tag-fleet.ts'

let server: RedisServer
let proxy: TcpProxy
const fleet = tagFleet(() => server, 'touch')
const { source } = fleet
const key = epochsKey('touch')

beforeAll(async () => {
  server = await startRedisServer()
  proxy = await startTcpProxy(server.connection as { host: string; port: number })
})
afterEach(() => fleet.end())
afterAll(async () => {
  await proxy.close()
  await server.stop()
})

describe('a process that has just started', () => {
  it('T069 refuses what was invalidated before, in its first reads, all at once', async () => {
    const a = await fleet.process()
    const ids = Array.from({ length: 50 }, (_, id) => id)
    for (const id of ids) await a.item.get(id)
    await a.cache.idle()
    for (let round = 0; round < 10; round++) {
      const version = ++source.version
      await a.cache.invalidateTags(round % 2 === 0 ? 'all' : ids.map((id) => `item:${id}`))
      const cold = await fleet.process()
      const rows = await Promise.all(ids.map((id) => cold.item.get(id)))
      expect(rows.filter((row) => row.version !== version)).toEqual([])
      await cold.cache.close()
    }
  })
})

describe('a process that is cut off', () => {
  it('T073 and comes back, serves nothing that was changed by tag meanwhile', async () => {
    const [a, b] = [await fleet.process(), await fleet.process()]
    for (let round = 0; round < 4; round++) {
      for (const { item } of [a, b]) await item.get(1)
      const admin = fleet.admin()
      const back = new Promise<void>((resolve) => {
        const stop = b.cache.on('bus', ({ state }) => {
          if (state !== 'up') return
          stop()
          resolve()
        })
      })
      const version = ++source.version
      const change = async () => {
        await (round % 2 === 0 ? a.cache.invalidateTags('item:1') : a.item.clear())
      }
      if (round < 2) await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await change()
      if (round >= 2) await admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub')
      await back
      expect((await b.item.get(1)).version).toBe(version)
      expect((await a.item.get(1)).version).toBe(version)
      await until(() => a.cache.health().status === 'ok')
    }
  })

  it('without a word, serves nothing of before 5 s later', { timeout: 60_000 }, async () => {
    const a = await fleet.process()
    const b = await fleet.process({ client: proxy.connection })
    await b.item.get(1)
    proxy.severSilently((sent) => /subscribe/i.test(sent))
    source.version = 2
    await a.cache.invalidateTags('item:1')
    // The news of a beat tell it sooner; 5 s is what is promised.
    await sleep(5_200)
    expect((await b.item.get(1)).version).toBe(2)
    // While it hears nothing, it asks.
    source.version = 3
    await a.cache.clear()
    const { bus } = b.cache.health()
    const { version } = await b.item.get(1)
    if (bus === 'silent') expect(version).toBe(3)
    await until(() => b.cache.health().status === 'ok')
    expect((await b.item.get(1)).version).toBe(3)
    const { loads } = source
    for (let n = 0; n < 5; n++) await b.item.get(1)
    expect(source.loads).toBe(loads)
  })

  it('and misses more than one answer tells, looks up anew what it had looked up before', async () => {
    const a = await fleet.process()
    const others = (round: number) =>
      Array.from({ length: 6_000 }, (_, n) => `some other tag ${round}/${n}`)
    await a.item.get(1)
    await a.cache.idle()
    await a.cache.invalidateTags(others(0))
    const b = await fleet.process({ client: proxy.connection })
    expect(await b.item.lookup(1)).toMatchObject({ outcome: 'hit', tier: 'store' })

    proxy.blackhole(true)
    await fleet.admin().call('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await until(() => b.cache.health().bus === 'silent')
    source.version = 2
    await a.cache.invalidateTags(['item:1', ...others(1)])
    proxy.blackhole(false)
    proxy.reset()
    await until(() => b.cache.health().bus === 'up')
    await until(() => b.cache.health().status === 'ok')
    expect((await b.item.get(1)).version).toBe(2)
  })

  it('by choice (no bus), asks with every read, and keeps nothing longer than 5 s', async () => {
    const a = await fleet.process()
    const b = await fleet.process({ bus: false })
    const cold = await fleet.process({ bus: false, memory: false })
    for (const { item } of [a, b, cold]) await item.get(1)
    for (const by of [a, b, cold]) {
      const version = ++source.version
      await by.cache.invalidateTags('all')
      expect((await by.item.get(1)).version).toBe(version)
      // Without memory there is nothing that could be old.
      expect((await cold.item.get(1)).version).toBe(version)
    }
    await sleep(5_100)
    expect((await b.item.get(1)).version).toBe(source.version)
    const { loads } = source
    for (let n = 0; n < 5; n++) for (const { item } of [a, b, cold]) await item.get(1)
    expect(source.loads).toBe(loads)
  })
})

describe('epochs that Redis evicts', () => {
  it('take no invalidation with them', { timeout: 120_000 }, async () => {
    const small = await startRedisServer({ args: ['--maxmemory-policy', 'allkeys-random'] })
    const crowded = tagFleet(() => small, 'touch')
    try {
      const admin = crowded.admin()
      const a = await crowded.process()
      const ids = [1, 2, 3, 4, 5]
      const used = Number(/used_memory:(\d+)/.exec(await admin.info('memory'))![1])
      await admin.config('SET', 'maxmemory', used + 4_000_000)
      let evicted = 0
      for (let round = 0; round < 60 && evicted < 8; round++) {
        for (const id of ids) await a.item.get(id)
        const version = ++crowded.source.version
        await a.cache.invalidateTags('all')
        for (let n = 0; n < 400; n++) {
          await admin.set(`filler ${n}`, 'x'.repeat(100_000))
          if ((await admin.exists(key)) === 0) break
        }
        if ((await admin.exists(key)) === 0) evicted++
        const cold = await crowded.process()
        for (const { item } of [a, cold]) {
          for (const id of ids) expect((await item.get(id)).version).toBe(version)
        }
        await cold.cache.close()
      }
      expect(evicted).toBeGreaterThan(0)
    } finally {
      await crowded.end()
      await small.stop()
    }
  })
})

it('T075 settling outlives the process that asked for it, twice, the shorter one last', async () => {
  const a = await fleet.process()
  await a.item.invalidate(1, { settle: '4s' })
  await a.item.invalidate(1, { settle: '100ms' })
  await a.cache.close()
  await sleep(300)
  const b = await fleet.process()
  expect((await b.item.get(1)).version).toBe(1)
  source.version = 2
  await sleep(4_000)
  expect((await b.item.get(1)).version).toBe(2)
})

it('what settles is known to a process that starts meanwhile, however many there are', async () => {
  const a = await fleet.process()
  const ids = Array.from({ length: 6_000 }, (_, id) => id)
  await a.item.invalidateMany(ids, { settle: '6s' })
  const cold = await fleet.process()
  for (const id of [0, 3_000, 5_999]) expect((await cold.item.get(id)).version).toBe(1)
  source.version = 2 // the replica has caught up
  await sleep(6_500)
  const after = await Promise.all([0, 3_000, 5_999].map((id) => cold.item.get(id)))
  expect(after.map(({ version }) => version)).toEqual([2, 2, 2])
})
