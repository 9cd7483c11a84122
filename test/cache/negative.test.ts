// "Does not exist" is a result: kept for a short while, kept apart from each other, removed by a write.

import { describe, expect, it } from 'vitest'
import { json } from '../../src/codecs/json.ts'
import { manualClock } from '../../src/testing/index.ts'
import { createCache } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'
import { alone, watched } from '../support/watched.ts'

describe('a negative entry', () => {
  it.each([null, undefined])(
    'T054 T055 %o is kept for negativeTtl, is a hit, and is itself in every process and tier',
    async (nothing) => {
      for (const codec of [undefined, json()]) {
        const { clock, process } = world()
        let runs = 0
        const load = async (_id: string): Promise<string | null | undefined> => {
          runs++
          return nothing
        }
        const items = []
        for (let n = 0; n < 2; n++) {
          const cache = await process({ ttl: '10m', negativeTtl: '30s', codec })
          items.push(cache.define({ name: 'item', load }))
        }
        for (const item of items)
          for (let n = 0; n < 3; n++) expect(await item.get('k')).toBe(nothing)
        expect(runs).toBe(1)
        await clock.advance(29_999)
        expect(await items[1]!.lookup('k')).toMatchObject({ outcome: 'hit', value: nothing })
        await clock.advance(1)
        expect(await items[1]!.lookup('k')).toMatchObject({ outcome: 'loaded', value: nothing })
        expect(runs).toBe(2)
      }
    },
  )

  it.each([0, '', false, Number.NaN, -0])(
    '%o is an ordinary value, kept for ttl',
    async (value) => {
      const { clock, cache } = alone({ ttl: '1h', negativeTtl: '1s' })
      let runs = 0
      const item = cache.define({ name: 'item', load: async (_id: string) => (runs++, value) })
      await item.get('a')
      await clock.advance('59m')
      expect(await item.get('a')).toBe(value)
      expect(runs).toBe(1)
    },
  )

  it('T060 never lives longer than ttl, nor than a ttl given by the loader', async () => {
    const { clock, cache } = alone({ ttl: '5s' })
    let runs = 0
    const item = cache.define({ name: 'item', load: async (_id: string) => (runs++, null) })
    const brief = cache.define({
      name: 'brief',
      load: async (_id: string, ctx) => {
        runs++
        ctx.ttl('1s')
        return null
      },
    })
    await item.get('a')
    await brief.get('a')
    await clock.advance('1s')
    await brief.get('a')
    expect(runs).toBe(3)
    await clock.advance('4s')
    await item.get('a')
    expect(runs).toBe(4)
  })

  it('negativeTtl 0: it is not stored', async () => {
    const { cache } = alone({ negativeTtl: 0 })
    let runs = 0
    const item = cache.define({ name: 'item', load: async (_id: string) => (runs++, null) })
    expect(await item.get('a')).toBe(null)
    expect(await item.get('a')).toBe(null)
    expect(runs).toBe(2)
    expect(await item.peek('a')).toEqual({ state: 'missing' })
  })

  it('has no stale windows: after its time, and when the load fails, it is not served', async () => {
    const { clock, cache } = alone({
      ttl: '1h',
      negativeTtl: '1s',
      staleWhileRevalidate: '1h',
      staleIfError: '1h',
    })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => {
        if (++runs > 1) throw new Error('no')
        return null
      },
    })
    await item.get('a')
    await clock.advance('1s')
    await expect(item.get('a')).rejects.toThrow('no')
  })

  it('T058 is gone at once after set and after invalidate, in every process', async () => {
    const { clock, process } = world()
    let row: string | null = null
    const load = async (_id: string): Promise<string | null> => row
    const one = (await process()).define({ name: 'item', load })
    const two = (await process()).define({ name: 'item', load })
    for (const item of [one, two]) expect(await item.get('k')).toBe(null)
    await one.set('k', 'written')
    await clock.advance(0)
    for (const item of [one, two]) expect(await item.get('k')).toBe('written')
    await one.set('k', null)
    await clock.advance(0)
    for (const item of [one, two]) expect(await item.get('k')).toBe(null)
    row = 'created'
    await two.invalidate('k')
    await clock.advance(0)
    for (const item of [one, two]) expect(await item.get('k')).toBe('created')
  })

  it('isNegative overrides the rule, both ways', async () => {
    const { clock, cache } = alone({ ttl: '1h', negativeTtl: '1s' })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (id: string) => (runs++, id === 'list' ? [] : null),
      isNegative: (value) => Array.isArray(value) && value.length === 0,
    })
    await item.get('list')
    await item.get('null')
    await clock.advance('2s')
    await item.get('null')
    expect(runs).toBe(2)
    await item.get('list')
    expect(runs).toBe(3)
  })

  it('isNegative that throws loses no value: answered, not stored, told', async () => {
    const { cache } = alone()
    const told: string[] = []
    cache.on('callbackFailed', ({ callback }) => told.push(callback))
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => 'value',
      isNegative: () => {
        throw new Error('a fault')
      },
    })
    expect(await item.get('a')).toBe('value')
    expect(told).toEqual(['isNegative'])
    expect(await item.peek('a')).toEqual({ state: 'missing' })
  })

  it('T021 a waiter elsewhere gets the stored nothing, and does not load for it', async () => {
    const { clock, process } = world()
    let runs = 0
    const load = async (_id: string): Promise<string | undefined> => {
      runs++
      await new Promise<void>((resolve) => void clock.after(100, resolve))
      return undefined
    }
    const calls = []
    for (let n = 0; n < 2; n++) {
      const item = (await process()).define({ name: 'item', load })
      calls.push(watched(item.lookup('k')))
    }
    await clock.advance(100)
    expect(calls[0]!.value).toMatchObject({ outcome: 'loaded', value: undefined })
    expect(calls[1]!.value).toMatchObject({ outcome: 'waited', value: undefined })
    expect(runs).toBe(1)
  })

  it('T060 a failure is no negative entry', async () => {
    const { cache } = alone({ negativeTtl: '30s' })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string): Promise<string | null> => {
        if (++runs === 1) throw new Error('timeout')
        return 'value'
      },
    })
    await expect(item.get('a')).rejects.toThrow('timeout')
    expect(await item.get('a')).toBe('value')
  })

  it('is never refreshed early', async () => {
    const clock = { ...manualClock(), random: () => 0.999 }
    const cache = createCache({
      namespace: 'test',
      ttl: '1h',
      negativeTtl: '10s',
      jitter: 0,
      earlyRefresh: { beta: 1_000, maxLead: 1 },
      clock,
    })
    let runs = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => {
        runs++
        await new Promise<void>((resolve) => void clock.after(1_000, resolve))
        return null
      },
    })
    const first = item.get('a')
    await clock.advance('1s')
    await first
    for (let n = 0; n < 99; n++) {
      await clock.advance(100)
      await item.get('a')
    }
    expect(runs).toBe(1)
  })
})
