// Switches for whoever is on call: around the cache, nothing in the background, nothing at all.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheEvents, type CacheOptions, type Mode } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

function setUp(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const store = memoryStore()
  let mode: Mode | undefined | (() => never) | 'nonsense'
  const process = () => {
    const cache = createCache({
      namespace: 'test', ttl: '1s', staleWhileRevalidate: '10s', staleIfError: '1m', jitter: 0,
      clock, store, ...options,
    }) // prettier-ignore
    const loads: string[] = []
    const items = cache.define({
      name: 'item',
      load: async (key: string) => {
        const n = loads.push(key)
        await new Promise<void>((resolve) => void clock.after(10, resolve))
        return `${key} ${n}`
      },
      mode: () => (typeof mode === 'function' ? mode() : mode) as Mode,
    })
    const failed: CacheEvents['callbackFailed'][] = []
    cache.on('callbackFailed', (event) => failed.push(event))
    const get = async (key: string): Promise<unknown> => {
      const got = items.lookup(key).then(
        ({ outcome, value }) => `${outcome} ${value}`,
        ({ code }: { code: string }) => code,
      )
      await clock.advance(100)
      return got
    }
    return { cache, items, loads, get, failed }
  }
  const flag = (to: typeof mode): void => void (mode = to)
  return { clock, process, flag }
}

describe("mode 'bypass'", () => {
  it('every call goes to the source, calls at once share a load, and nothing is stored', async () => {
    const { clock, process, flag } = setUp()
    const [here, there] = [process(), process()]
    await clock.advance(10)
    expect(await here.get('a')).toBe('loaded a 1')
    flag('bypass')
    const both = Promise.all([here.items.get('a'), here.items.get('a')])
    await clock.advance(100)
    expect(await both).toEqual(['a 2', 'a 2'])
    expect(await here.get('a')).toBe('loaded a 3')
    const many = here.items.getMany(['a', 'b', 'a'])
    await clock.advance(100)
    expect(await many).toEqual(['a 4', 'b 5', 'a 4'])
    const refreshed = here.items.refresh('a')
    await clock.advance(100)
    expect(await refreshed).toBe('a 6')
    flag('normal')
    expect(await here.get('a')).toBe('hit a 1')
    expect(await there.get('a')).toBe('hit a 1')
    expect(await there.get('b')).toBe('loaded b 1')
  })

  it('what is invalidated or set meanwhile is so afterwards', async () => {
    const { clock, process, flag } = setUp()
    const [here, there] = [process(), process()]
    await clock.advance(10)
    await here.get('a')
    await here.get('b')
    flag('bypass')
    const changed = Promise.all([here.items.invalidate('a'), here.items.set('b', 'mine')])
    await clock.advance(10)
    await changed
    flag(undefined)
    expect(await there.get('a')).toBe('loaded a 1')
    expect(await here.get('b')).toBe('hit mine')
  })

  it('a load of before the switch is not joined, nor one of during it afterwards', async () => {
    const { clock, process, flag } = setUp()
    const { items, loads } = process()
    await clock.advance(10)
    const got = [items.get('a')]
    await clock.advance(1)
    flag('bypass')
    got.push(items.get('a'))
    await clock.advance(1)
    expect(loads).toHaveLength(2)
    flag('normal')
    got.push(items.get('a'))
    await clock.advance(100)
    // The third waits for its turn, and then finds what the first has stored.
    expect(await Promise.all(got)).toEqual(['a 1', 'a 2', 'a 1'])
  })

  it('a remembered failure is not in the way', async () => {
    const { clock, process, flag } = setUp({ errorTtl: '1m' })
    const { cache } = process()
    await clock.advance(10)
    const failing = cache.define({ name: 'failing', load: () => Promise.reject(new Error('no')) })
    await expect(failing.get()).rejects.toThrow('no')
    let loads = 0
    failing.switchTo('bypass')
    cache.on('loadFailed', () => loads++)
    await expect(failing.get()).rejects.toThrow('no')
    expect(loads).toBe(1)
    flag(undefined)
  })
})

describe("mode 'no-refresh'", () => {
  it('nothing is loaded in the background; what may no longer be served is loaded for its caller', async () => {
    const { clock, process, flag } = setUp()
    const { get, loads } = process()
    await clock.advance(10)
    await get('a')
    await clock.advance('2s')
    flag('no-refresh')
    expect(await get('a')).toBe('stale a 1')
    await clock.advance('5s')
    expect(await get('a')).toBe('stale a 1')
    expect(loads).toHaveLength(1)
    await clock.advance('5s')
    expect(await get('a')).toBe('loaded a 2')
    await clock.advance('2s')
    flag('normal')
    expect(await get('a')).toBe('stale a 2')
    expect(loads).toHaveLength(3)
  })
})

describe("mode 'stale-only'", () => {
  it('what is kept is given within its windows, and nothing is ever loaded', async () => {
    const { clock, process, flag } = setUp()
    const { get, loads, items, cache } = process()
    await clock.advance(10)
    await get('a')
    flag('stale-only')
    expect(await get('a')).toBe('hit a 1')
    await clock.advance('5s')
    expect(await get('a')).toBe('stale a 1')
    await clock.advance('30s')
    expect(await get('a')).toBe('stale a 1')
    expect(await get('b')).toBe('OVERLOADED')
    await clock.advance('30s')
    expect(await get('a')).toBe('OVERLOADED')
    await expect(items.refresh('a')).rejects.toMatchObject({ code: 'OVERLOADED', key: 'r:item:a' })
    const many = items.getManySettled(['a', 'b'])
    await clock.advance(10)
    expect((await many).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(loads).toHaveLength(1)
    expect(cache.counters()['item']!.overloaded).toBe(5)
  })

  it('what another process has loaded is taken from the store', async () => {
    const { clock, process } = setUp()
    const [here, there] = [process(), process()]
    await clock.advance(10)
    here.items.switchTo('stale-only')
    expect(await here.get('a')).toBe('OVERLOADED')
    await there.get('a')
    expect(await here.get('a')).toBe('hit a 1')
    expect(here.loads).toEqual([])
  })

  it('a load that is in the queue when it is switched does not begin', async () => {
    const { clock, process, flag } = setUp({ limit: { concurrency: 1 } })
    const { items, loads } = process()
    await clock.advance(10)
    const got = Promise.allSettled([items.get('a'), items.get('b')])
    await clock.advance(1)
    flag('stale-only')
    await clock.advance(100)
    expect((await got).map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
    expect(loads).toEqual(['a'])
    flag('normal')
    const again = items.get('b')
    await clock.advance(100)
    expect(await again).toBe('b 2')
  })

  it('a fallback stands in', async () => {
    const { clock, process } = setUp()
    const { cache } = process()
    await clock.advance(10)
    const items = cache.define({ name: 'other', load: () => 'loaded', fallback: () => 'instead' })
    cache.switchTo('stale-only')
    expect(await items.lookup()).toEqual({ outcome: 'fallback', value: 'instead' })
  })
})

describe('switches', () => {
  it('one of a definition comes before one of all, and that before the option; each can be undone', async () => {
    const { clock, process } = setUp()
    const { cache, items, get } = process()
    const events: CacheEvents['switched'][] = []
    cache.on('switched', (event) => events.push(event))
    await clock.advance(10)
    await get('a')
    cache.switchTo('bypass')
    expect(await get('a')).toBe('loaded a 2')
    items.switchTo('normal')
    expect(await get('a')).toBe('hit a 1')
    items.switchTo(undefined)
    expect(await get('a')).toBe('loaded a 3')
    cache.switchTo(undefined)
    expect(await get('a')).toBe('hit a 1')
    expect(events.map(({ name, mode }) => `${name} ${mode}`)).toEqual([
      'undefined bypass', 'item normal', 'item undefined', 'undefined undefined',
    ]) // prettier-ignore
  })

  it('reach one-off keys, which have the option too', async () => {
    const { clock, process } = setUp()
    const { cache } = process()
    await clock.advance(10)
    let loads = 0
    const get = (options = {}) => cache.getOrLoad('k', () => ++loads, options)
    expect([await get(), await get(), await get({ mode: 'bypass' }), await get()]).toEqual([
      1, 1, 2, 1,
    ])
    cache.switchTo('bypass')
    expect([await get(), await get()]).toEqual([3, 4])
    cache.switchTo('stale-only')
    expect(await get()).toBe(1)
  })

  it('a function that throws, or says what nobody knows, switches nothing and is told', async () => {
    const { clock, process, flag } = setUp()
    const { get, failed } = process()
    await clock.advance(10)
    await get('a')
    flag(() => {
      throw new Error('the flag system is away')
    })
    expect(await get('a')).toBe('hit a 1')
    expect(failed[0]).toMatchObject({ name: 'item', callback: 'mode' })
    flag('nonsense')
    expect(await get('a')).toBe('hit a 1')
    expect(String(failed.at(-1)!.error)).toContain("expected 'normal', 'bypass'")
  })

  it('what is no mode is refused', () => {
    const { process } = setUp()
    const { cache, items } = process()
    for (const wrong of ['off', null, 1, {}] as never[]) {
      expect(() => cache.switchTo(wrong)).toThrowError(/switchTo: expected 'normal', 'bypass'/)
      expect(() => items.switchTo(wrong)).toThrowError(/switchTo/)
      expect(() => cache.define({ name: 'x', load: () => 1, mode: wrong })).toThrowError(/x\.mode/)
    }
  })
})
