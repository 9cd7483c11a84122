// A miss gives what a hit will give, in every tier and with every way of sharing (T109), and what
// cannot be stored is answered all the same (T120).

import { describe, expect, it } from 'vitest'
import { json } from '../../src/codecs/json.ts'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

class Money {
  readonly amount: number
  readonly currency: string
  constructor(amount: number, currency: string) {
    this.amount = amount
    this.currency = currency
  }
}

const everything = () => ({
  date: new Date(1_700_000_000_000),
  map: new Map<unknown, unknown>([['a', { deep: [1] }]]),
  set: new Set([1, 'a']),
  bytes: Buffer.from('héllo'),
  view: new Uint16Array([1, 2, 3]),
  big: 2n ** 70n,
  small: 5n,
  nothing: undefined,
  none: null,
  nan: NaN,
  minus: -0,
  infinite: -Infinity,
  text: ['', ':', '::', '$date', '__type', 'null', '"', '\ud800', '\0', '😀'],
  pattern: /a+/gi,
  url: new URL('https://example.com/a?b=c'),
  own: JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}') as object,
  nested: { list: [{ a: 1 }, [2, [3]]] },
  error: new RangeError('too far'),
})

const tiers = ['memory only', 'memory and store', 'store only'] as const
const codecs = { msgpack: undefined, json: json() }

describe.each(tiers)('%s', (tier) => {
  const options = (): Partial<CacheOptions> => (tier === 'store only' ? { memory: false } : {})
  const open = async (more: Partial<CacheOptions> = {}) => {
    if (tier === 'memory only') {
      const clock = manualClock()
      const cache = createCache({ namespace: 'test', ttl: '60s', clock, ...more })
      return { clock, caches: [cache, cache] as const }
    }
    const { clock, process } = world()
    const all = { ...options(), ...more }
    return { clock, caches: [await process(all), await process(all)] as const }
  }

  describe.each(['freeze', 'clone'] as const)('values: %s', (values) => {
    it.each(['msgpack', 'json'] as const)(
      'T109 gives the same on a miss, a hit, and a hit elsewhere, by %s',
      async (codec) => {
        const { clock, caches } = await open({ values, codec: codecs[codec] })
        const given = everything()
        const load = () => given
        const miss = await caches[0].getOrLoad('a', load)
        await clock.advance(10)
        const hit = await caches[0].getOrLoad('a', load)
        const elsewhere = await caches[1].getOrLoad('a', () => 'loaded again' as never)
        for (const value of [miss, hit, elsewhere]) {
          expect(value).toStrictEqual(everything())
          expect(value).not.toBe(given)
          expect(Object.is(value.minus, -0)).toBe(true)
          expect(Buffer.isBuffer(value.bytes)).toBe(true)
          expect(Object.hasOwn(value.own, '__proto__')).toBe(true)
          expect(Object.isFrozen(value)).toBe(values === 'freeze')
          expect(Object.isFrozen(value.nested.list[0])).toBe(values === 'freeze')
        }
        // The loader's object is its own: neither frozen nor kept.
        expect(Object.isFrozen(given)).toBe(false)
        expect(Object.isFrozen(given.nested.list)).toBe(false)
        given.nested.list.push([9])
        expect((await caches[0].getOrLoad('a', load)).nested.list).toHaveLength(2)
      },
    )

    it('makes a class instance a plain object from the first answer on', async () => {
      const { clock, caches } = await open({ values })
      const load = () => new Money(5, 'EUR')
      const miss = await caches[0].getOrLoad('a', load)
      await clock.advance(10)
      const hit = await caches[0].getOrLoad('a', load)
      for (const value of [miss, hit]) {
        expect(value).toStrictEqual({ amount: 5, currency: 'EUR' })
      }
    })

    it('gives callers of one load what later callers get', async () => {
      const { clock, caches } = await open({ values })
      let end!: (value: { a: number[] }) => void
      const load = () => new Promise<{ a: number[] }>((resolve) => (end = resolve))
      const callers = [0, 0, 1].map((n) => caches[n]!.getOrLoad('a', load))
      await clock.advance(5)
      end({ a: [1] })
      await clock.advance(50)
      const [first, second, third] = await Promise.all(callers)
      expect([first, second, third]).toEqual([{ a: [1] }, { a: [1] }, { a: [1] }])
      if (values === 'freeze') expect(second).toBe(first)
      else {
        expect(second).not.toBe(first)
        first!.a.push(2)
        expect(await caches[0].getOrLoad('a', load)).toEqual({ a: [1] })
      }
    })

    it('keeps what is set as it keeps what is loaded', async () => {
      const { clock, caches } = await open({ values })
      const given = everything()
      await caches[0].set('a', given)
      given.nested.list.push([9])
      await clock.advance(10)
      for (const cache of caches) {
        const seen = await cache.getOrLoad('a', () => 'loaded' as never)
        expect(seen).toStrictEqual(everything())
        const peeked = await cache.peek('a')
        expect(peeked).toMatchObject({ state: 'fresh', value: everything() })
      }
      expect(Object.isFrozen(given)).toBe(false)
    })
  })

  it.each([0, '', false, NaN, -0, 5n, 'text', Number.MAX_SAFE_INTEGER])(
    'keeps %s as an ordinary value',
    async (value) => {
      const { clock, caches } = await open()
      let loads = 0
      const load = () => (loads++, value)
      for (const cache of [caches[0], caches[0], caches[1]]) {
        expect(Object.is(await cache.getOrLoad('a', load), value)).toBe(true)
        await clock.advance(5)
      }
      expect(loads).toBe(1)
      await clock.advance('59s') // longer than negativeTtl
      expect(Object.is(await caches[0].getOrLoad('a', load), value)).toBe(true)
      expect(loads).toBe(1)
    },
  )

  it.each([null, undefined])('T054 T055 keeps %s as a negative entry, as it is', async (value) => {
    const { clock, caches } = await open({ staleWhileRevalidate: '1h', staleIfError: '1h' })
    let loads = 0
    const load = () => (loads++, value)
    for (const cache of [caches[0], caches[0], caches[1]]) {
      expect(await cache.getOrLoad('a', load)).toBe(value)
      await clock.advance(5)
    }
    expect(loads).toBe(1)
    expect(await caches[1].peek('a')).toMatchObject({ state: 'fresh', value })
    await clock.advance('29s')
    expect(await caches[0].getOrLoad('a', load)).toBe(value)
    expect(loads).toBe(1)
    await clock.advance('2s') // negativeTtl is over, and there is no stale window
    expect(await caches[0].peek('a')).toEqual({ state: 'missing' })
    expect(await caches[0].getOrLoad('a', load)).toBe(value)
    expect(loads).toBe(2)
  })

  it('shares by reference where that is asked for and possible', async () => {
    const { clock, caches } = await open({ values: 'share' })
    const given = tier === 'memory only' ? { run: () => 5 } : { n: 5 }
    const miss = await caches[0].getOrLoad<object>('a', () => given)
    expect(miss).toBe(given)
    expect(Object.isFrozen(miss)).toBe(false)
    await clock.advance(5)
    const hit = await caches[0].getOrLoad<object>('a', () => ({}))
    if (tier === 'store only') expect(hit).toEqual(given)
    else expect(hit).toBe(given)
  })
})
