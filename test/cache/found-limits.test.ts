// What attackers of the limit found: tokens that are hoarded, owed, or never asked for; and refreshes
// and failures around what is kept.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { watched } from '../support/watched.ts'
import { fixedPlaces, Limiter, type Queued } from '../../src/flight/limiter.ts'
import { Rate } from '../../src/flight/rate.ts'
import { SlowStart } from '../../src/core/slow-start.ts'

function setUp(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const inner = memoryStore()
  const pause = (ms: number) => new Promise<void>((r) => void clock.after(ms, r))
  const process = (more: Partial<CacheOptions> = {}) => {
    const store = faultyStore(inner)
    const cache = createCache({
      namespace: 'test',
      ttl: '10m',
      jitter: 0,
      clock,
      store,
      ...options,
      ...more,
    })
    return { cache, store }
  }
  return { clock, pause, process }
}

describe('limit', () => {
  for (const store of [true, false])
    it(`perSecond with queue 0 loads when tokens are there (store ${store})`, async () => {
      const { clock, process } = setUp()
      const { cache } = process({
        limit: { perSecond: 10, queue: 0 },
        ...(store ? {} : { store: undefined }),
      })
      await clock.advance('1s')
      const got = watched(cache.getOrLoad('a', () => 1))
      await clock.advance('1s')
      expect(got.state).toBe('resolved')
    })

  it('perSecond: a store that hangs for longer than the queue: the process counts by itself', async () => {
    const { clock, process } = setUp()
    const { cache, store } = process({ limit: { perSecond: 10, queue: '50ms' } })
    await clock.advance('1s')
    store.hang()
    const got = watched(cache.getOrLoad('a', () => 1))
    await clock.advance('3s')
    expect(got.state).toBe('resolved')
  })

  it('perSecond: what rode on a parent is paid for by time that passes', async () => {
    const { clock, process } = setUp()
    const { cache } = process({ limit: { perSecond: 10, queue: '1s' } })
    await clock.advance('1s')
    const outer = watched(
      cache.getOrLoad('o', () =>
        Promise.all(Array.from({ length: 100 }, (_, n) => cache.getOrLoad(`i${n}`, () => n))),
      ),
    )
    await clock.advance('1s')
    expect(outer.state).toBe('resolved')
    await clock.advance('1h')
    const got = watched(cache.getOrLoad('a', () => 1))
    await clock.advance('2s')
    expect(got.state).toBe('resolved')
  })

  it('perSecond: tokens are not hoarded by processes that cannot use them', async () => {
    const { clock, process, pause } = setUp({
      limit: { perSecond: 100, concurrency: 1, queue: '60s' },
      loadTimeout: '60s',
    })
    const all = Array.from({ length: 20 }, () => process())
    await clock.advance('1s')
    const begun: number[] = []
    let open!: () => void
    const gate = new Promise<void>((r) => (open = r))
    const got: { state: string }[] = []
    for (const [p, { cache }] of all.entries()) {
      let nth = 0
      for (let n = 0; n < 30; n++)
        got.push(
          watched(
            cache.getOrLoad(`${p}-${n}`, async () => {
              begun.push(clock.now())
              await (++nth === 2 ? gate : pause(1))
            }),
          ),
        )
      await clock.advance(200)
    }
    const at = clock.now()
    open()
    await clock.advance('1s')
    const within = begun.filter((t) => t >= at && t < at + 1000).length
    await clock.advance('20s')
    expect(got.every(({ state }) => state === 'resolved')).toBe(true)
    expect(within).toBeLessThanOrEqual(110)
  })

  it('I7: no timer of the rate is left after close', async () => {
    let timers = 0
    let answer!: (tokens: { granted: number; waitMs: number }) => void
    const clock = { now: () => 0, random: () => 0, after: () => (timers++, () => void timers--) }
    const rate: Rate = new Rate({
      clock: clock as never,
      answerMs: 100,
      perSecond: 0.01,
      detached: (run) => run(),
      ask: () => new Promise((r) => (answer = r)),
      onTokens: () => {},
    })
    const limiter = new Limiter({
      clock: clock as never,
      queueMs: 60_000,
      places: fixedPlaces(5),
      rate,
      onLimit: () => {},
    })
    const turns = ['a', 'b'].map(
      (key) => limiter.enter({ key, until: 60_000, isBackground: false }) as Queued,
    )
    for (const turn of turns) turn.place.catch(() => {})
    for (const turn of turns) turn.cancel(new Error('closed'))
    limiter.close()
    answer({ granted: 0, waitMs: 100_000 })
    await new Promise((r) => setImmediate(r))
    expect(timers).toBe(0)
  })

  it('a slow start lets go of many that are overdue without a deep stack', () => {
    const ramp = new SlowStart()
    for (let n = 0; n < 16; n++) ramp.enter(() => {})
    for (let n = 0; n < 20_000; n++) ramp.enter(() => ramp.ended(false))
    ramp.ended(false)
    for (let n = 0; n < 15; n++) ramp.ended(false)
    let went = false
    ramp.enter(() => (went = true))
    expect(went).toBe(true)
  })
})

describe('switches', () => {
  const scene = (options: Partial<CacheOptions> = {}) => {
    const s = setUp({ ttl: '1s', staleWhileRevalidate: '10s', staleIfError: '1m', ...options })
    const { cache, store } = s.process()
    const loads: string[] = []
    const items = cache.define({
      name: 'item',
      load: async (key: string) => {
        const n = loads.push(key)
        await s.pause(10)
        return `${key} ${n}`
      },
    })
    return { ...s, cache, store, items, loads }
  }

  it('a refresh after bypass does not join the refresh of during it, which stores nothing', async () => {
    const { clock, items } = scene({ limit: { concurrency: 1 }, ttl: '10m' })
    await clock.advance(10)
    void items.get('x')
    await clock.advance(1)
    items.switchTo('bypass')
    const around = items.refresh('a')
    await clock.advance(1)
    items.switchTo(undefined)
    const mine = items.refresh('a')
    await clock.advance(100)
    await around
    const value = await mine
    expect(await items.peek('a')).toMatchObject({ value })
  })

  it('a refresh in bypass does not join one of before it', async () => {
    const { clock, items, loads } = scene({ limit: { concurrency: 1 }, ttl: '10m' })
    await clock.advance(10)
    void items.get('x')
    await clock.advance(1)
    const before = items.refresh('a')
    await clock.advance(1)
    items.switchTo('bypass')
    const mine = items.refresh('a')
    await clock.advance(100)
    await Promise.all([before, mine])
    expect(loads).toEqual(['x', 'a', 'a'])
  })

  it('a failure in bypass is not remembered', async () => {
    const { clock, cache } = scene({ errorTtl: '1m' })
    await clock.advance(10)
    let fails = true
    const f = cache.define({
      name: 'f',
      load: () => {
        if (fails) throw new Error('no')
        return 1
      },
    })
    f.switchTo('bypass')
    await expect(f.get()).rejects.toThrow('no')
    fails = false
    f.switchTo(undefined)
    expect(await f.get()).toBe(1)
  })

  it('a refresh in the queue does not begin when it is switched to no-refresh', async () => {
    const { clock, items, loads } = scene({ limit: { concurrency: 1 } })
    await clock.advance(10)
    const first = items.get('a')
    await clock.advance(100)
    await first
    await clock.advance('2s')
    void items.get('x')
    await clock.advance(1)
    void items.get('a')
    await clock.advance(1)
    items.switchTo('no-refresh')
    await clock.advance(100)
    expect(loads).toEqual(['a', 'x'])
  })
})
