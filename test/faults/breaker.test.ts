// The store in front of which the breaker stands: opens, probes, closes; what a read pays meanwhile.
// In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { spyStore } from '../support/spy-store.ts'

type Reading = Readonly<Record<string, unknown>>

async function one(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const inner = memoryStore()
  const link = faultyStore(inner)
  const spy = spyStore(link)
  const cache = createCache({ namespace: 'test', ttl: '60s', clock, store: spy.store, ...options })
  const events: Reading[] = []
  cache.on('breaker', (event) => events.push({ ...event }))
  await clock.advance(10)
  /** How long the promise took on the cache's clock, to the millisecond. */
  const timed = async <T>(promise: Promise<T>): Promise<{ value: T; ms: number }> => {
    const from = clock.now()
    let done: { value: T; ms: number } | undefined
    let failed: { error: unknown } | undefined
    promise.then(
      (value) => (done = { value, ms: clock.now() - from }),
      (error: unknown) => (failed = { error }),
    )
    for (let step = 0; step < 5_000; step++) {
      if (failed !== undefined) throw failed.error
      if (done !== undefined) return done
      await clock.advance(step === 0 ? 0 : 1)
    }
    throw new Error('expected it to settle within 5 s')
  }
  return { clock, link, spy, inner, cache, events, timed }
}

describe('a store that is gone', () => {
  it('costs one storeTimeout, then nothing, and no error', async () => {
    const { link, cache, events, timed, clock } = await one()
    link.hang()
    const first = await timed(cache.getOrLoad('a', () => 'a'))
    expect(first).toMatchObject({ value: 'a' })
    expect(first.ms).toBeGreaterThanOrEqual(100)
    expect(first.ms).toBeLessThanOrEqual(105)
    expect(events).toEqual([{ state: 'open' }])
    for (const key of ['b', 'c', 'd']) {
      expect(await timed(cache.getOrLoad(key, () => key))).toEqual({ value: key, ms: 0 })
    }
    await clock.advance('10m')
    expect(await timed(cache.getOrLoad('e', () => 'e'))).toEqual({ value: 'e', ms: 0 })
  })

  it('costs one storeTimeout also when it freezes between the look and the lease', async () => {
    const { link, cache, timed, clock } = await one()
    await timed(cache.getOrLoad('a', () => 'a'))
    await clock.advance('61s')
    link.hang()
    const { value, ms } = await timed(cache.getOrLoad('a', () => 'again'))
    expect(value).toBe('again')
    expect(ms).toBeLessThanOrEqual(105)
  })

  it('is probed, believed again when it answers, and then asked again', async () => {
    const { link, cache, events, timed, clock, spy } = await one()
    link.hang()
    await timed(cache.getOrLoad('a', () => 'a'))
    await clock.advance('1m')
    expect(events).toEqual([{ state: 'open' }])
    expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down', bus: 'silent' })
    link.heal()
    await clock.advance('5s')
    expect(events).toEqual([{ state: 'open' }, { state: 'closed' }])
    expect(cache.health()).toMatchObject({ status: 'ok', store: 'up', bus: 'up' })
    const before = spy.count('publish')
    await timed(cache.getOrLoad('fresh', () => 'x'))
    await clock.advance(5)
    expect(spy.count('publish')).toBe(before + 1)
  })

  it('that fails at once opens the breaker after a few faults, none of which a caller sees', async () => {
    const { link, cache, events, timed } = await one()
    link.fail()
    for (let n = 0; n < 10; n++) {
      expect(await timed(cache.getOrLoad(`k${n}`, () => n))).toEqual({ value: n, ms: 0 })
    }
    expect(events).toEqual([{ state: 'open' }])
  })

  it('that answers probes and nothing else is asked more and more rarely', async () => {
    const { spy, cache, events, clock } = await one({ memory: false })
    // LOADING, MOVED: what asks for no key is answered.
    for (let n = 0; n < 1_000; n++) {
      spy.failNext('read', new Error('LOADING Redis is loading the dataset in memory'))
      expect(await cache.getOrLoad(`k${n}`, () => n)).toBe(n)
      await clock.advance(10)
    }
    const opened = events.filter(({ state }) => state === 'open').length
    expect(opened).toBeGreaterThan(5)
    expect(opened).toBeLessThan(15)
    await clock.advance('1.3s')
    expect(cache.health().status).toBe('ok')
  })

  it('T090 gets no commands while the breaker is open, probes apart', async () => {
    const { link, cache, timed, clock, spy } = await one()
    link.hang()
    await timed(cache.getOrLoad('first', () => 1))
    const asked = spy.count('read') + spy.count('acquire')
    for (let n = 0; n < 5_000; n++) await cache.getOrLoad(`k${n}`, () => n)
    await cache.getOrLoad('k', () => 1)
    await clock.advance('1m')
    expect(spy.count('read') + spy.count('acquire')).toBe(asked)
  })

  it('leaves nothing unanswered behind once it answers again', async () => {
    const { link, cache, timed, clock, spy } = await one()
    link.hang()
    await timed(cache.getOrLoad('first', () => 1))
    await clock.advance('1m')
    link.heal()
    await clock.advance('5s')
    expect(spy.unanswered).toBe(0)
  })

  it('a slow answer among quick ones fails only itself', async () => {
    const { cache, clock, events, spy, timed } = await one({ memory: false })
    await timed(cache.getOrLoad('quick', () => 'quick'))
    await clock.advance(5)
    for (let n = 0; n < 4; n++) {
      spy.holdAnswers('acquire')
      const slow = cache.getOrLoad(`slow ${n}`, () => n)
      for (let step = 0; step < 12; step++) {
        await clock.advance(10)
        expect((await timed(cache.getOrLoad('quick', () => 'again'))).value).toBe('quick')
      }
      spy.letGo()
      expect(await slow).toBe(n)
      await clock.advance(5)
    }
    expect(events).toEqual([])
  })
})

describe('an entry that was loaded while the store was gone', () => {
  it('is fresh for outageTtl at most', async () => {
    const { cache, clock, link, timed } = await one()
    let runs = 0
    const load = () => ++runs
    link.hang()
    expect((await timed(cache.getOrLoad('k', load))).value).toBe(1)
    await clock.advance(4_900)
    expect(await cache.getOrLoad('k', load)).toBe(1)
    await clock.advance(200)
    expect(await cache.getOrLoad('k', load)).toBe(2)
  })

  it.each(['getOrLoad', 'get'] as const)('is looked up again on recovery, by %s', async (how) => {
    const { cache, clock, link, inner, timed } = await one({ outageTtl: '30s' })
    const other = createCache({ namespace: 'test', ttl: '60s', clock, store: inner })
    await clock.advance(10)
    const inOther = other.define({ name: 'item', load: (_id: string) => 'theirs' })
    const item = cache.define({ name: 'item', load: (_id: string) => 'ours' })
    const get = () =>
      how === 'get' ? item.get('k') : item.lookup('k').then((answer) => answer.value)
    link.fail()
    for (let n = 0; n < 5; n++) await timed(item.get(`k${n}`))
    expect(cache.health().store).toBe('down')
    expect((await timed(get())).value).toBe('ours')
    expect((await timed(inOther.get('k'))).value).toBe('theirs')
    link.heal()
    await clock.advance('2s')
    expect(cache.health().store).toBe('up')
    expect((await timed(get())).value).toBe('theirs')
  })
})
