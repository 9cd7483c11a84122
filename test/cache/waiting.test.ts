// Leases and who waits for them: crash, loss, refusal, timeouts, tiers that are switched off.

import { describe, expect, it } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'
import { alone, runs, watched } from '../support/watched.ts'

describe('a waiter', () => {
  it('T079 T081 T082 takes over when the holder is gone: lease, one load, nothing more', async () => {
    const { clock, process, faulty } = world()
    const { cache: dies, link } = await faulty({ lease: '3s' })
    const lives = await process({ lease: '3s' })
    const load = runs<string>()
    void watched(dies.define({ name: 'item', load: (_id: string) => load.next() }).get('k'))
    await clock.advance(10)
    const item = lives.define({ name: 'item', load: (_id: string) => load.next() })
    const calls = Array.from({ length: 10 }, () => watched(item.get('k')))
    await clock.advance(10)
    link.hang() // the holder renews no more
    await clock.advance(2_900)
    expect(load.all).toHaveLength(1)
    await clock.advance(350)
    expect(load.all).toHaveLength(2)
    load.all[1]!.resolve('value')
    await clock.advance(0)
    expect(calls.every(({ value }) => value === 'value')).toBe(true)
  })

  it('T082 a stale value is refreshed by another after its refresher died', async () => {
    const { clock, process, faulty } = world()
    const options = { staleWhileRevalidate: '1h', lease: '3s' } as const
    const { cache: dies, link } = await faulty(options)
    const lives = await process(options)
    const load = runs<string>()
    const a = dies.define({ name: 'item', load: (_id: string) => load.next() })
    const b = lives.define({ name: 'item', load: (_id: string) => load.next() })
    const first = a.get('k')
    await clock.advance(0)
    load.all[0]!.resolve('old')
    await first
    await b.get('k')
    await clock.advance('61s')
    await a.get('k')
    await clock.advance(10)
    link.hang()
    expect(await b.get('k')).toBe('old')
    await clock.advance('4s')
    expect(load.all).toHaveLength(3)
    load.all[2]!.resolve('new')
    await clock.advance(0)
    expect(await b.get('k')).toBe('new')
  })

  it('T081 loads for itself after waitTimeout, counted, and without harm to the holder', async () => {
    const { clock, process } = world()
    const [one, two] = [await process(), await process({ waitTimeout: '2s' })]
    const load = runs<string>()
    const a = one.define({ name: 'item', load: (_id: string) => load.next() })
    const b = two.define({ name: 'item', load: (_id: string) => load.next() })
    const here = watched(a.get('k'))
    await clock.advance(10)
    const there = watched(b.get('k'))
    await clock.advance(1_999)
    expect(load.all).toHaveLength(1)
    await clock.advance(1)
    expect(load.all).toHaveLength(2)
    load.all[1]!.resolve('own')
    await clock.advance(0)
    expect(there.value).toBe('own')
    expect(two.counters()['item']).toMatchObject({ unleasedWaited: 1, leases: 0 })
    load.all[0]!.resolve('value')
    await clock.advance(0)
    expect(here.value).toBe('value')
    expect(await b.get('k')).toBe('value')
  })

  it('gets the stale value at waitTimeout where one is allowed', async () => {
    const { clock, process } = world()
    const options = { staleIfError: '1h', waitTimeout: '2s' } as const
    const [one, two] = [await process(options), await process(options)]
    const load = runs<string>()
    const a = one.define({ name: 'item', load: (_id: string) => load.next() })
    const b = two.define({ name: 'item', load: (_id: string) => load.next() })
    const first = a.get('k')
    await clock.advance(0)
    load.all[0]!.resolve('old')
    await first
    await b.get('k')
    await clock.advance('61s')
    void watched(a.get('k'))
    await clock.advance(10)
    const call = watched(b.lookup('k'))
    await clock.advance('2s')
    expect(call.value).toMatchObject({ outcome: 'stale', value: 'old' })
    expect(load.all).toHaveLength(2)
  })

  it('does not wait at all with waitTimeout 0', async () => {
    const { clock, process } = world()
    const load = runs<string>()
    for (const waitTimeout of ['30s', 0] as const) {
      const cache = await process({ waitTimeout })
      void watched(cache.define({ name: 'item', load: (_id: string) => load.next() }).get('k'))
    }
    await clock.advance(1)
    expect(load.all).toHaveLength(2)
  })

  it('T015 of one key is not woken by, nor given, another', async () => {
    const { clock, process } = world()
    const caches = [await process(), await process()]
    const load = async (id: number): Promise<number> => {
      await new Promise<void>((resolve) => void clock.after(100 + (id % 7) * 10, resolve))
      return id
    }
    const calls = caches.flatMap((cache) => {
      const item = cache.define({ name: 'item', load })
      return Array.from({ length: 60 }, (_, id) => ({ id, call: watched(item.get(id)) }))
    })
    await clock.advance(500)
    for (const { id, call } of calls) expect(call.value).toBe(id)
  })

  it('T039 of the same key in another namespace or definition loads for itself', async () => {
    const { clock, process } = world()
    const load = runs<string>()
    const caches = [await process(), await process({ namespace: 'other' })]
    for (const cache of caches) {
      for (const name of ['item', 'thing']) {
        void watched(cache.define({ name, load: (_id: string) => load.next() }).get('k'))
      }
      void watched(cache.getOrLoad('k', () => load.next()))
    }
    await clock.advance(10)
    expect(load.all).toHaveLength(6)
  })
})

describe('a holder', () => {
  it('T084 T087 that lost its lease answers its callers, stores nothing, and raises nothing', async () => {
    const { clock, process, faulty } = world()
    const { cache: slow, link } = await faulty({ lease: '1s' })
    const other = await process({ lease: '1s' })
    const load = runs<string>()
    const a = slow.define({ name: 'item', load: (_id: string) => load.next() })
    const b = other.define({ name: 'item', load: (_id: string) => load.next() })
    const before = watched(a.get('k'))
    await clock.advance(10)
    link.fail()
    await clock.advance('3s')
    const after = watched(b.get('k'))
    await clock.advance(10)
    load.all[1]!.resolve('new')
    await clock.advance(10)
    expect(after.value).toBe('new')
    link.heal()
    await clock.advance('5s')
    load.all[0]!.resolve('old')
    await clock.advance(10)
    expect(before.value).toBe('old')
    for (const item of [a, b]) expect(await item.get('k')).toBe('new')
    expect(slow.counters()['item']).toMatchObject({ published: 0 })
  })

  it('T085 keeps its lease for as long as the load takes', async () => {
    const { clock, process } = world()
    const caches = [await process({ lease: 100 }), await process({ lease: 100 })]
    const loader = controlled<string>()
    const calls = caches.map((cache) =>
      watched(cache.define({ name: 'item', load: (_id: string) => loader.load() }).get('k')),
    )
    await clock.advance('20s')
    expect(loader.runs).toBe(1)
    loader.end('value')
    await clock.advance(0)
    expect(calls.map(({ value }) => value)).toEqual(['value', 'value'])
  })

  it('T088 of one of many keys keeps its flight, however small the memory', async () => {
    const { clock, cache } = alone({ memory: { maxEntries: 2 } })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    void watched(item.get('slow'))
    for (let n = 0; n < 20; n++) await cache.set(`k${n}`, n)
    const again = watched(item.get('slow'))
    await clock.advance(0)
    expect(loader.runs).toBe(1)
    loader.end('value')
    await clock.advance(0)
    expect(again.value).toBe('value')
  })
})

describe('without a tier', () => {
  it.each([{ memory: false }, { store: false }, { memory: false, store: false }])(
    'callers of one process share a load: %o',
    async (tiers) => {
      const { clock, process } = world()
      const cache = await process()
      const loader = controlled<string>()
      const item = cache.define({ name: 'item', load: (_id: string) => loader.load(), ...tiers })
      const calls = Array.from({ length: 10 }, () => watched(item.get('k')))
      await clock.advance(10)
      loader.end('value')
      await clock.advance(0)
      expect(calls.every(({ value }) => value === 'value')).toBe(true)
      expect(loader.runs).toBe(1)
      const next = watched(item.get('k'))
      await clock.advance(0)
      const kept = tiers.store === undefined || tiers.memory === undefined
      expect(loader.runs).toBe(kept ? 1 : 2)
      if (!kept) loader.end('value')
      await clock.advance(0)
      expect(next.value).toBe('value')
    },
  )

  it('store: false keeps to its process, and hears an invalidation from another', async () => {
    const { clock, process } = world()
    let run = 0
    const load = async (_id: string): Promise<number> => ++run
    const one = (await process()).define({ name: 'item', load, store: false })
    const two = (await process()).define({ name: 'item', load, store: false })
    expect([await one.get('k'), await two.get('k'), await one.get('k')]).toEqual([1, 2, 1])
    await two.invalidate('k')
    await clock.advance(0)
    expect(await one.get('k')).toBe(3)
  })

  it('enabled: false keeps nothing, shares a running load, limits and freezes', async () => {
    const { clock, process } = world()
    const cache = await process({ enabled: false, limit: { concurrency: 1, queue: 0 } })
    const loader = controlled<{ n: number }>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const calls = [watched(item.get('a')), watched(item.get('a'))]
    await clock.advance(0)
    await expect(item.get('b')).rejects.toMatchObject({ code: 'OVERLOADED' })
    loader.end({ n: 1 })
    await clock.advance(0)
    expect(calls[1]!.value).toEqual({ n: 1 })
    expect(Object.isFrozen(calls[0]!.value)).toBe(true)
    await item.set('a', { n: 2 })
    const again = watched(item.get('a'))
    await clock.advance(0)
    expect(loader.runs).toBe(2)
    loader.end({ n: 3 })
    await clock.advance(0)
    expect(again.value).toEqual({ n: 3 })
  })
})
