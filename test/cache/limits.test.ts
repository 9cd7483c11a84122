// What the source is given: loads at once, loads per second, and who comes first.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { watched } from '../support/watched.ts'

function setUp() {
  const clock = manualClock()
  const inner = memoryStore()
  const begun: { key: string; at: number }[] = []
  const pause = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  const start = clock.now()
  const process = (limit: CacheOptions['limit'], options: Partial<CacheOptions> = {}) => {
    const store = faultyStore(inner)
    const cache = createCache({ namespace: 'test', ttl: '10m', clock, store, limit, ...options })
    const get = (key: string, ms = 0) =>
      watched(
        cache.getOrLoad(key, async () => {
          begun.push({ key, at: clock.now() - start })
          await pause(ms)
          return key
        }),
      )
    return { cache, store, get }
  }
  const within = (from: number, to: number) =>
    begun.filter(({ at }) => at >= from && at < to).length
  return { clock, process, begun, within, pause }
}

const keys = (count: number, prefix = 'k') =>
  Array.from({ length: count }, (_, n) => `${prefix}${n}`)

describe('limit.perSecond', () => {
  it('holds for all processes together, in every second, and nothing is lost by it', async () => {
    const { clock, process, begun, within } = setUp()
    const all = [1, 2, 3].map(() => process({ perSecond: 50, queue: '10s' }))
    await clock.advance('1s')
    begun.length = 0
    const got = all.flatMap(({ get }, n) => keys(80, `${n}-`).map((key) => get(key, 5)))
    await clock.advance('6s')
    expect(got.filter(({ state }) => state !== 'resolved')).toEqual([])
    for (let from = 1_000; from < 6_000; from += 100) {
      expect(within(from, from + 1_000)).toBeLessThanOrEqual(55)
    }
    expect(within(1_000, 5_600)).toBeGreaterThan(220)
    await Promise.all(all.map(({ cache }) => cache.close()))
  })

  it('of each process while the store is gone, and of all again afterwards', async () => {
    const { clock, process, within } = setUp()
    const all = [1, 2].map(() => process({ perSecond: 20, queue: '10s' }))
    await clock.advance('1s')
    for (const { store } of all) store.fail()
    const got = all.flatMap(({ get }, n) => keys(60, `${n}-`).map((key) => get(key)))
    await clock.advance('4s')
    expect(got.filter(({ state }) => state !== 'resolved')).toEqual([])
    for (let from = 1_000; from < 4_000; from += 100) {
      expect(within(from, from + 1_000)).toBeLessThanOrEqual(2 * 22)
    }
    for (const { store } of all) store.heal()
    await clock.advance('5s')
    const again = all.flatMap(({ get }, n) => keys(30, `again ${n}-`).map((key) => get(key)))
    await clock.advance('4s')
    expect(again.filter(({ state }) => state !== 'resolved')).toEqual([])
    for (let from = 10_000; from < 14_000; from += 100) {
      expect(within(from, from + 1_000)).toBeLessThanOrEqual(22)
    }
    await Promise.all(all.map(({ cache }) => cache.close()))
  })

  it('who cannot begin within the queue’s time is told OVERLOADED', async () => {
    const { clock, process, begun } = setUp()
    const { get, cache } = process({ perSecond: 10, queue: '1s' }, { store: undefined })
    const got = keys(100).map((key) => get(key))
    await clock.advance('1s')
    const late = got.filter(({ state }) => state === 'rejected')
    expect(late.every(({ error }) => (error as { code: string }).code === 'OVERLOADED')).toBe(true)
    expect(begun.length).toBe(100 - late.length)
    expect(begun.length).toBeGreaterThanOrEqual(10)
    expect(begun.length).toBeLessThanOrEqual(11)
    await cache.close()
  })

  it('a load inside a load does not wait for a turn, and counts', async () => {
    const { clock, process, pause, within } = setUp()
    const { cache, get } = process({ perSecond: 10, concurrency: 1, queue: '30s' })
    await clock.advance('1s')
    const outer = Array.from({ length: 10 }, (_, n) =>
      watched(
        cache.getOrLoad(`outer ${n}`, async () => {
          await pause(1)
          const inner = get(`inner ${n}`)
          await pause(1)
          expect(inner.state).toBe('resolved')
          return n
        }),
      ),
    )
    await clock.advance('1600ms')
    expect(outer.some(({ state }) => state === 'pending')).toBe(true)
    await clock.advance('1s')
    expect(outer.every(({ state }) => state === 'resolved')).toBe(true)
    // Half of all loads: the other half are the outer ones.
    expect(within(1_000, 2_000)).toBeLessThanOrEqual(6)
    await cache.close()
  })
})

describe('limit.concurrency', () => {
  it('adaptive: falls when loads time out, which is told, and is never below its least', async () => {
    const { clock, process, pause } = setUp()
    const { cache } = process(
      { concurrency: { initial: 10, min: 4, max: 20 }, queue: 0 },
      { loadTimeout: '1s', store: undefined },
    )
    const limits: number[] = []
    cache.on('limit', ({ concurrency }) => limits.push(concurrency))
    for (let round = 0; round < 6; round++) {
      const load = () => pause(1_500)
      await clock.advance(0)
      void cache.getOrLoad(`k${round}`, load).catch(() => {})
      await clock.advance('3s')
    }
    expect(limits).toEqual([8, 6, 5, 4])
    expect(cache.counters()['']!.abandoned).toBe(6)
    await cache.close()
  })

  it('refreshes in the background leave room for callers, and come after them', async () => {
    const { clock, process, begun, pause } = setUp()
    const { cache } = process(
      { concurrency: 4 },
      { ttl: '1s', staleWhileRevalidate: '1m', jitter: 0, store: undefined },
    )
    let ms = 0
    const items = cache.define({
      name: 'item',
      load: async (key: string) => {
        begun.push({ key, at: 0 })
        await pause(ms)
        return key
      },
    })
    const filled = keys(10).map((key) => items.get(key))
    await clock.advance('2s')
    await Promise.all(filled)
    begun.length = 0
    ms = 100
    const stale = await Promise.all(keys(10).map((key) => items.lookup(key)))
    expect(stale.every(({ outcome }) => outcome === 'stale')).toBe(true)
    await clock.advance(0)
    expect(begun).toHaveLength(3)
    const waited = [items.get('a'), items.get('b'), items.get('c')].map(watched)
    await clock.advance(200)
    expect(begun.slice(0, 6).map(({ key }) => key)).toEqual(['k0', 'k1', 'k2', 'a', 'b', 'c'])
    expect(waited.every(({ state }) => state === 'resolved')).toBe(true)
    await clock.advance('1s')
    expect(begun).toHaveLength(13)
    await cache.close()
  })

  it('a refresh that a caller has come to wait for is a caller’s load', async () => {
    const { clock, process, begun, pause } = setUp()
    const { cache } = process(
      { concurrency: 1 },
      { ttl: '1s', staleWhileRevalidate: '1m', jitter: 0, store: undefined },
    )
    const items = cache.define({
      name: 'item',
      load: async (key: string) => {
        begun.push({ key, at: 0 })
        await pause(100)
        return key
      },
    })
    const filled = Promise.all([items.get('a'), items.get('b')])
    await clock.advance('2s')
    await filled
    begun.length = 0
    void items.get('other')
    await clock.advance(0)
    void items.get('a')
    void items.get('b')
    await clock.advance(0)
    void items.get('b', { maxAge: 10 })
    await clock.advance(150)
    expect(begun.map(({ key }) => key)).toEqual(['other', 'b'])
    await clock.advance('1s')
    expect(begun.map(({ key }) => key)).toEqual(['other', 'b', 'a'])
    await cache.close()
  })
})

describe('what cannot be', () => {
  it.each([
    [{ perSecond: 0 }, 'limit.perSecond: expected a number greater than 0'],
    [{ perSecond: Number.NaN }, 'limit.perSecond'],
    [{ perSecond: '5' as never }, 'limit.perSecond'],
    [{ concurrency: { min: 10, max: 5 } }, 'limit.concurrency: expected min ≤ initial ≤ max'],
    [{ concurrency: { initial: 300, max: 256 } }, 'expected min ≤ initial ≤ max'],
    [{ concurrency: { mins: 5 } as never }, 'did you mean limit.concurrency.min'],
    [{ concurrency: { min: 1.5 } }, 'limit.concurrency.min: expected a whole number'],
    [{ concurrency: 0 }, "limit.concurrency: expected a whole number greater than 0 or 'adaptive'"],
  ])('%o is refused', (limit, sentence) => {
    expect(() => createCache({ namespace: 'test', ttl: 1, limit })).toThrowError(sentence)
  })

  it.each([
    { initial: 500 }, { max: 4 }, { min: 300 }, { initial: 2 }, {}, { min: 8, initial: 8, max: 8 },
  ])('what is not said gives way to what is: %o', (concurrency) => {
    expect(() => createCache({ namespace: 'test', ttl: 1, limit: { concurrency } })).not.toThrow()
  }) // prettier-ignore
})
