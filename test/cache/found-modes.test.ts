// What attackers of the switches found, and of the turns of those who come late.

import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { watched } from '../support/watched.ts'

it('a store that comes back slowly, with very many waiting: nothing overflows', async () => {
  const clock = manualClock()
  const store = faultyStore(memoryStore())
  const cache = createCache({
    namespace: 'test',
    ttl: '10m',
    clock,
    store,
    limit: { concurrency: 100_000 },
  })
  const unhandled: unknown[] = []
  const listen = (e: unknown) => void unhandled.push(e)
  process.on('unhandledRejection', listen)
  await clock.advance('1s')
  store.fail()
  await cache.getOrLoad('x', () => 1)
  await clock.advance(200)
  store.heal()
  for (let n = 0; n < 100 && cache.health().store !== 'up'; n++) await clock.advance(50)
  expect(cache.health().store).toBe('up')
  store.delay(150)
  const got = Array.from({ length: 12_000 }, (_, n) => watched(cache.getOrLoad(`k${n}`, () => n)))
  await clock.advance('5s')
  await clock.advance(0)
  process.off('unhandledRejection', listen)
  expect(unhandled).toEqual([])
  expect(got.filter(({ state }) => state !== 'resolved').length).toBe(0)
}, 60_000)

it('a caller who joins a queued refresh in the background has the whole queue before it', async () => {
  const clock = manualClock()
  const cache = createCache({
    namespace: 'test',
    ttl: '1s',
    jitter: 0,
    staleWhileRevalidate: '2s',
    clock,
    limit: { concurrency: 1, queue: '5s' },
    loadTimeout: '30s',
  })
  await cache.getOrLoad('a', () => 1)
  await clock.advance('2s')
  const hold = watched(
    cache.getOrLoad('x', () => new Promise((r) => clock.after(5_500, () => r(1)))),
  )
  expect(await cache.getOrLoad('a', () => 2)).toBe(1)
  await clock.advance('4900ms')
  const got = watched(cache.getOrLoad('a', () => 3))
  await clock.advance('2s')
  expect(hold.state).toBe('resolved')
  expect(got.state).toBe('resolved')
})

it('private in bypass: everybody gets their own', async () => {
  const clock = manualClock()
  const cache = createCache({ namespace: 'test', ttl: '1s', clock, store: memoryStore() })
  await clock.advance(10)
  let n = 0
  const items = cache.define({
    name: 'item',
    load: async (_: string, ctx) => {
      ctx.private()
      const m = ++n
      await new Promise<void>((resolve) => void clock.after(5, resolve))
      return m
    },
    mode: 'bypass',
  })
  const got = ['a', 'a', 'a'].map((key) => watched(items.get(key)))
  await clock.advance(100)
  expect(got.map(({ state }) => state)).toEqual(['resolved', 'resolved', 'resolved'])
  await cache.close()
  expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
})

it('stale-only: who comes while a load of the key queues is answered at once', async () => {
  const clock = manualClock()
  const cache = createCache({
    namespace: 'test',
    ttl: '1s',
    jitter: 0,
    staleIfError: '1m',
    clock,
    limit: { concurrency: 1, queue: '5s' },
    loadTimeout: '30s',
  })
  const load = (key: string, mode?: 'stale-only') =>
    watched(cache.getOrLoad(key, () => (key === 'x' ? new Promise(() => {}) : 1), mode && { mode }))
  load('a')
  await clock.advance('2s')
  load('x')
  await clock.advance(1)
  load('a')
  load('b')
  await clock.advance(1)
  cache.switchTo('stale-only')
  const [a, b] = [load('a'), load('b')]
  await clock.advance(100)
  expect([a.state, b.state]).toEqual(['resolved', 'rejected'])
})

it('no-refresh: a refresh that waits for another process does not load when that one dies', async () => {
  const clock = manualClock()
  const store = memoryStore()
  const make = () =>
    createCache({
      namespace: 'test',
      ttl: '1s',
      jitter: 0,
      staleWhileRevalidate: '60s',
      clock,
      store,
    })
  const [here, there] = [make(), make()]
  await clock.advance('1s')
  await there.getOrLoad('a', () => 1)
  await here.getOrLoad('a', () => 1)
  await clock.advance('2s')
  watched(there.getOrLoad('a', () => new Promise(() => {})))
  await clock.advance(5)
  let loads = 0
  watched(here.getOrLoad('a', () => ++loads))
  await clock.advance(5)
  here.switchTo('no-refresh')
  await clock.advance('40s')
  expect(loads).toBe(0)
  expect(here.health().loads).toEqual({ running: 0, queued: 0 })
})

// A precaution: what joins in the very turn in which a flight is refused.
it('no-refresh: who joins a queued refresh that is refused in the same turn is loaded for', async () => {
  const clock = manualClock()
  const cache = createCache({
    namespace: 'test',
    ttl: '1s',
    jitter: 0,
    staleWhileRevalidate: '2s',
    clock,
    limit: { concurrency: 1 },
    loadTimeout: '30s',
  })
  let a = 0
  const get = () => watched(cache.getOrLoad('a', () => ++a))
  get()
  await clock.advance('2s')
  let open!: () => void
  watched(cache.getOrLoad('x', () => new Promise<void>((r) => (open = r))))
  get()
  await clock.advance('5s')
  cache.switchTo('no-refresh')
  const got: ReturnType<typeof watched>[] = []
  open()
  for (let n = 0; n < 30; n++) {
    await Promise.resolve()
    got.push(get())
  }
  await clock.advance(100)
  expect(got.map(({ state }) => state)).toEqual(got.map(() => 'resolved'))
})
