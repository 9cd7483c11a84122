// What each verb gives: values, tiers, instants, states; and what health, idle and close say.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'

const start = Date.UTC(2026, 0, 1)

describe('lookup', () => {
  it('tells outcome, tier and instants, each where it came from', async () => {
    const { clock, process } = world()
    const [a, b] = [await process({ staleIfError: '1h' }), await process()]
    const loader = controlled<string>()
    const [one, two] = [a, b].map((cache) => cache.define({ name: 'item', load: (_: string) => loader.load() })) // prettier-ignore
    const loading = one!.lookup('x')
    await clock.advance(100)
    loader.end('1')
    await clock.advance(1)
    const storedAt = (await one!.lookup('x').then((it) => ('storedAt' in it ? it : undefined)))!
      .storedAt
    const instants = { storedAt, freshUntil: storedAt + 60_000, value: '1' }
    expect(storedAt).toBeGreaterThanOrEqual(start + 100)
    expect(await loading).toEqual({ outcome: 'loaded', tier: 'source', ...instants })
    expect(await one!.lookup('x')).toEqual({ outcome: 'hit', tier: 'memory', ...instants })
    expect(await two!.lookup('x')).toEqual({ outcome: 'hit', tier: 'store', ...instants })
    expect(await two!.lookup('x')).toEqual({ outcome: 'hit', tier: 'memory', ...instants })
    await clock.advance('61s')
    const failing = one!.lookup('x')
    await clock.advance(1)
    loader.fail(new Error('no'))
    await clock.advance(1)
    expect(await failing).toMatchObject({ outcome: 'stale', ...instants })
  })

  it('counts ttl from the end of the load (T031), and never more in memory than in the store (T048)', async () => {
    const { clock, process } = world()
    const [a, b] = [await process({ ttl: '3s' }), await process({ ttl: '60s' })]
    const load = () => new Promise<number>((resolve) => clock.after(5_000, () => resolve(1)))
    const got = a.getOrLoad('x', load)
    await clock.advance('5s')
    expect(await got).toBe(1)
    await clock.advance('2s')
    expect(await b.getOrLoad('x', () => 2)).toBe(1)
    await clock.advance('2s')
    const again = b.getOrLoad('x', () => 2)
    await clock.advance(1)
    expect(await again).toBe(2)
  })
})

describe('maxAge', () => {
  it('is compared with the start of the load, and is the caller’s own', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '60s', clock })
    let loads = 0
    const load = () => {
      loads++
      const n = loads
      return new Promise<number>((resolve) => clock.after(4_000, () => resolve(n)))
    }
    const item = cache.define({ name: 'item', load: (_: string) => load() })
    const first = item.get('x')
    await clock.advance('4s')
    expect(await first).toBe(1)
    expect(await item.get('x', { maxAge: '4s' })).toBe(1)
    await clock.advance(1)
    expect(await item.get('x', { maxAge: '5s' })).toBe(1)
    const fresh = item.get('x', { maxAge: '4s' })
    expect(await item.get('x')).toBe(1) // others are served as before
    await clock.advance('4s')
    expect(await fresh).toBe(2)
    expect(await item.get('x')).toBe(2)
    const none = item.get('x', { maxAge: 0 })
    await clock.advance('4s')
    expect(await none).toBe(3)
  })
})

describe('peek', () => {
  it('tells fresh, stale, missing, with meta, and never loads', async () => {
    const { clock, process } = world()
    const cache = await process({ staleWhileRevalidate: '30s' })
    let loads = 0
    const item = cache.define<string, number>({
      name: 'item',
      load: (_, { meta }) => (meta({ etag: 'e' }), ++loads),
    })
    expect(await item.peek('x')).toEqual({ state: 'missing' })
    const got = item.get('x')
    await clock.advance(1)
    await got
    const seen = await item.peek('x')
    expect(seen).toMatchObject({ state: 'fresh', value: 1, meta: { etag: 'e' } })
    await clock.advance('60s')
    expect(await item.peek('x')).toEqual({ ...seen, state: 'stale' })
    await clock.advance('30s')
    expect(await item.peek('x')).toEqual({ state: 'missing' })
    expect(loads).toBe(1)
  })
})

describe('set, invalidate and expire', () => {
  it('are seen by everyone', async () => {
    const { clock, process } = world()
    const caches = [await process({ staleIfError: '1h' }), await process({ staleIfError: '1h' })]
    const items = caches.map((cache) => cache.define<string, string>({ name: 'item', load: () => 'loaded' })) // prettier-ignore
    const [a, b] = [items[0]!, items[1]!]
    for (const value of ['1', '2']) {
      await a.set('x', value)
      await clock.advance(1)
      expect(await Promise.all(items.map((item) => item.get('x')))).toEqual([value, value])
    }
    await b.expire('x')
    await clock.advance(1)
    for (const item of items) expect(await item.peek('x')).toMatchObject({ state: 'stale', value: '2' }) // prettier-ignore
    await b.invalidate('x')
    await clock.advance(1)
    for (const item of items) expect(await item.peek('x')).toEqual({ state: 'missing' })
    await expect(a.invalidate('never there')).resolves.toBeUndefined()
    await expect(a.expireMany([])).resolves.toBeUndefined()
  })

  it('T058 clear what says "does not exist", everywhere', async () => {
    const { clock, process } = world()
    const caches = [await process(), await process()]
    const items = caches.map((cache) => cache.define<string, string | null>({ name: 'item', load: () => null })) // prettier-ignore
    for (const item of items) {
      const got = item.get('x')
      await clock.advance(1)
      expect(await got).toBe(null)
    }
    await items[0]!.set('x', 'created')
    await clock.advance(1)
    for (const item of items) expect(await item.get('x')).toBe('created')
  })

  it('a set has its own options, and leaves the definition’s', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '60s', clock })
    const item = cache.define<string, number>({ name: 'item', load: () => 0 })
    await item.set('x', 1, { ttl: '5s' })
    await item.set('y', 1, { isNegative: () => true, negativeTtl: '2s' })
    await item.set('z', 1, { ttl: 0 })
    expect(await item.peek('z')).toEqual({ state: 'missing' })
    await clock.advance('3s')
    expect(await item.peek('y')).toEqual({ state: 'missing' })
    expect(await item.peek('x')).toMatchObject({ state: 'fresh' })
    await clock.advance('3s')
    expect(await item.peek('x')).toEqual({ state: 'missing' })
    expect(await item.get('x')).toBe(0)
    await clock.advance('59s')
    expect(await item.peek('x')).toMatchObject({ state: 'fresh' })
  })
})

describe('many', () => {
  it('answers in input order, duplicates included; settled tells each apart', async () => {
    const cache = createCache({ namespace: 'test', ttl: '60s' })
    let loads = 0
    const load = async (n: number) => {
      loads++
      if (n < 0) throw new RangeError(`${n}`)
      return n * 2
    }
    const item = cache.define({ name: 'item', load })
    expect(await item.getMany([3, 1, 3, 2])).toEqual([6, 2, 6, 4])
    expect(loads).toBe(3)
    expect(await item.getMany([])).toEqual([])
    expect(await item.getManySettled([1, -1, 3])).toEqual([
      { status: 'fulfilled', value: 2 },
      { status: 'rejected', reason: new RangeError('-1') },
      { status: 'fulfilled', value: 6 },
    ])
    await expect(item.getMany([1, -1, -2])).rejects.toThrow('-1')
  })
})

describe('health, idle and close', () => {
  it('health tells what runs and queues; idle waits for it; close ends all', async () => {
    const clock = manualClock()
    const limit = { concurrency: 2 }
    const cache = createCache({ namespace: 'test', ttl: '60s', clock, limit })
    expect(cache.health()).toEqual({
      status: 'ok',
      store: 'none',
      bus: 'none',
      breakersOpen: 0,
      loads: { running: 0, queued: 0 },
      limit: { concurrency: 2, abandoned: 0 },
      memory: { entries: 0, bytes: 0, evicted: 0 },
      late: [],
      changes: [],
    })
    await cache.idle()
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_: number) => loader.load() })
    const got = item.getMany([1, 2, 3])
    let idle = false
    const resting = cache.idle().then(() => (idle = true))
    await clock.advance(1)
    expect(cache.health().loads).toEqual({ running: 2, queued: 1 })
    for (const value of ['a', 'b', 'c']) {
      expect(idle).toBe(false)
      loader.end(value)
      await clock.advance(1)
    }
    await resting
    expect(await got).toEqual(['a', 'b', 'c'])
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
    const closing = cache.close()
    expect(cache.close()).toBe(closing)
    await clock.advance('1s')
    await closing
    expect(cache.health().status).toBe('closed')
    const calls = [
      item.get(9), item.lookup(9), item.refresh(9), item.peek(9), item.set(9, 'x'), item.getMany([9]),
      item.invalidate(9), item.expire(9), cache.getOrLoad('a', () => 1), cache.peek('a'), cache.set('a', 1),
    ] // prettier-ignore
    for (const result of await Promise.allSettled(calls)) {
      expect(result).toMatchObject({ status: 'rejected', reason: { code: 'CLOSED' } })
    }
    await cache.idle()
  })

  it('await using closes', async () => {
    let cache
    {
      await using own = createCache({ namespace: 'test', ttl: '60s', store: memoryStore() })
      await own.getOrLoad('a', () => 1)
      cache = own
    }
    expect(cache.health().status).toBe('closed')
  })
})
