// Lifetimes: from when they count, what shortens them, what they never become.

import { describe, expect, it } from 'vitest'
import { createCache, type LoadContext } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { alone, watched } from '../support/watched.ts'

describe('ttl', () => {
  it.each([
    ['1h', '5m'],
    ['10s', '1h'],
    ['1s', '1s'],
  ] as const)('T030 is lengthened by grace, not replaced by it: %s and %s', async (ttl, grace) => {
    const { clock, process } = world()
    const options = { ttl, staleIfError: grace } as const
    const one = await process(options)
    const reader = await process({ ...options, memory: false })
    const item = one.define({ name: 'item', load: async (_id: string) => 'value' })
    const there = reader.define({ name: 'item', load: async (_id: string) => 'value' })
    await item.get('k')
    const ms = { '1h': 3_600_000, '5m': 300_000, '10s': 10_000, '1s': 1_000 }
    await clock.advance(ms[ttl] - 1)
    expect(await there.peek('k')).toMatchObject({ state: 'fresh' })
    await clock.advance(1)
    expect(await there.peek('k')).toMatchObject({ state: 'stale' })
    await clock.advance(ms[grace] - 1)
    expect(await there.peek('k')).toMatchObject({ state: 'stale' })
    await clock.advance(1)
    expect(await there.peek('k')).toEqual({ state: 'missing' })
    expect(await item.peek('k')).toEqual({ state: 'missing' })
  })

  it('T031 is counted from the end of the load', async () => {
    const { clock, cache } = alone({ ttl: '3s' })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const first = item.get('a')
    await clock.advance('5s')
    loader.end('value')
    await first
    await clock.advance(2_999)
    expect(await item.get('a')).toBe('value')
    expect(loader.runs).toBe(1)
  })

  it('T034 given by a loader holds for that fill alone; options are never changed', async () => {
    const options = Object.freeze({
      namespace: 'test',
      ttl: '10s',
      jitter: 0,
      memory: Object.freeze({ maxEntries: 10 }),
    } as const)
    const clock = manualClock()
    const cache = createCache({ ...options, clock })
    let run = 0
    const definition = Object.freeze({
      name: 'item',
      load: async (_id: string, ctx: LoadContext) => {
        if (++run === 1) ctx.ttl('1s')
        return run
      },
    })
    const item = cache.define(definition)
    await item.get('a')
    await clock.advance('1s')
    expect(await item.get('a')).toBe(2)
    await clock.advance(9_999)
    expect(await item.get('a')).toBe(2)
    await clock.advance(1)
    expect(await item.get('a')).toBe(3)
  })

  it.each([Number.NaN, -1, Number.POSITIVE_INFINITY, '60', '', null, {}] as never[])(
    'T042 %o given by a loader is refused, and nothing is kept for ever',
    async (ttl) => {
      const { cache } = alone()
      const item = cache.define({
        name: 'item',
        load: async (_id: string, ctx: LoadContext) => {
          ctx.ttl(ttl)
          return 'token'
        },
      })
      await expect(item.get('a')).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      expect(await item.peek('a')).toEqual({ state: 'missing' })
    },
  )

  it('T043 0 stores nothing, takes no lease, and shares a running load within the process', async () => {
    const { clock, process } = world()
    const loader = controlled<string>()
    const caches = [await process(), await process()]
    const calls = caches.flatMap((cache) => {
      const item = cache.define({ name: 'item', ttl: 0, load: (_id: string) => loader.load() })
      return [watched(item.get('k')), watched(item.get('k'))]
    })
    await clock.advance(10)
    expect(loader.runs).toBe(2)
    loader.end('one')
    loader.end('two')
    await clock.advance(0)
    expect(calls.map(({ value }) => value)).toEqual(['one', 'one', 'two', 'two'])
    for (const cache of caches) {
      expect(cache.counters()['item']).toMatchObject({ leases: 0, published: 0 })
      expect(await cache.peek('k')).toEqual({ state: 'missing' })
    }
  })

  it('T045 T046 may be longer than any timer', async () => {
    const { clock, cache } = alone({ ttl: '400d', staleIfError: '4000d', softTimeout: '29s' })
    const item = cache.define({ name: 'item', load: async (_id: string) => 'value' })
    await item.get('k')
    await clock.advance('399d')
    expect(await item.lookup('k')).toMatchObject({ outcome: 'hit' })
  })

  it('T048 in memory never outlives the entry in the store', async () => {
    const { clock, process } = world()
    const [one, two] = [await process(), await process()]
    let run = 0
    const load = async (_id: string): Promise<number> => ++run
    await one.define({ name: 'item', load }).get('k')
    await clock.advance('55s')
    const item = two.define({ name: 'item', load })
    expect(await item.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'store', value: 1 })
    expect(await item.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'memory', value: 1 })
    await clock.advance(4_999)
    expect(await item.get('k')).toBe(1)
    await clock.advance(1)
    expect(await item.get('k')).toBe(2)
  })

  it('T049 an aged entry lives in memory for memory.ttl from when it came in', async () => {
    const { clock, process } = world()
    const memory = { ttl: '10s' } as const
    const one = await process({ ttl: '1h', memory })
    const two = await process({ ttl: '1h', memory })
    const load = async (_id: string): Promise<string> => 'value'
    await one.define({ name: 'item', load }).get('k')
    await clock.advance('10m')
    const item = two.define({ name: 'item', load })
    expect(await item.lookup('k')).toMatchObject({ tier: 'store' })
    await clock.advance(9_999)
    expect(await item.lookup('k')).toMatchObject({ tier: 'memory' })
    await clock.advance(1)
    expect(await item.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'store' })
    expect(await item.lookup('k')).toMatchObject({ tier: 'memory' })
  })
})

describe('jitter', () => {
  it('T052 takes up to its share off, never adds, has its mean at half, and spares ttl 0', async () => {
    let seed = 1
    const clock = {
      ...manualClock(),
      // Park and Miller's generator: the same draws in every run.
      random: () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647,
    }
    const cache = createCache({ namespace: 'test', ttl: 60_000, jitter: 0.1, clock })
    const item = cache.define({ name: 'item', load: (id: number) => id })
    const lives: number[] = []
    for (let n = 0; n < 5_000; n++) {
      const found = await item.lookup(n)
      if (!('storedAt' in found)) throw new Error(found.outcome)
      lives.push(found.freshUntil - found.storedAt)
    }
    expect(Math.max(...lives)).toBeLessThanOrEqual(60_000)
    expect(Math.min(...lives)).toBeGreaterThanOrEqual(54_000)
    const mean = lives.reduce((sum, life) => sum + life, 0) / lives.length
    expect(Math.abs(mean - 57_000)).toBeLessThan(570)
    const none = cache.define({ name: 'none', ttl: 0, load: (id: number) => id })
    expect(await none.get(1)).toBe(1)
    expect(await none.peek(1)).toEqual({ state: 'missing' })
  })

  it('of a tiny ttl leaves a lifetime that the store can take', async () => {
    const { clock, store } = world()
    const random = { ...clock, random: () => 0.999 }
    const cache = createCache({ namespace: 'test', ttl: 1, jitter: 1, store, clock: random })
    await clock.advance(10)
    const item = cache.define({ name: 'item', load: async (_id: string) => 'value' })
    expect(await item.get('k')).toBe('value')
  })
})

describe('early refresh', () => {
  async function warmed(beta: number, random = 0.37) {
    const clock = { ...manualClock(), random: () => random }
    const cache = createCache({
      namespace: 'test',
      ttl: '100s',
      jitter: 0,
      earlyRefresh: { beta, maxLead: 0.25 },
      limit: { concurrency: 1, queue: '5s' },
      clock,
    })
    const loader = controlled<string>()
    const reasons: string[] = []
    const item = cache.define({
      name: 'item',
      load: (_id: string, ctx: LoadContext) => {
        reasons.push(ctx.reason)
        return loader.load()
      },
    })
    const first = item.get('a')
    await clock.advance('1s')
    loader.end('old')
    await first
    return { clock, cache, loader, item, reasons }
  }

  it('serves the fresh value and loads once, not before maxLead', async () => {
    const { clock, loader, item, reasons } = await warmed(1_000_000)
    await clock.advance(74_999)
    for (let n = 0; n < 5; n++) await item.get('a')
    await clock.advance(0)
    expect(loader.runs).toBe(1)
    await clock.advance(1)
    for (let n = 0; n < 5; n++) {
      expect(await item.lookup('a')).toMatchObject({ outcome: 'hit', value: 'old' })
    }
    await clock.advance(0)
    expect(reasons).toEqual(['miss', 'early'])
    loader.end('new')
    await clock.advance(0)
    expect(await item.get('a')).toBe('new')
  })

  it('has one draw for each process and fill: reads do not draw again', async () => {
    const { clock, loader, item } = await warmed(1)
    let at: number | undefined
    for (let ms = 0; ms < 100_000 && at === undefined; ms += 250) {
      for (let n = 0; n < 40; n++) await item.get('a')
      if (loader.runs === 2) at = ms
      await clock.advance(250)
    }
    // Δ is 1 s: 40 draws at each read would come in the cap's first seconds, one draw rarely does.
    // A draw under a step of this loop is none that it can see.
    expect(at ?? 100_000).toBeGreaterThan(85_000)
  })

  it('is not begun while loads queue', async () => {
    const { clock, cache, loader, item } = await warmed(1_000_000)
    await clock.advance('80s')
    const busy = cache.define({ name: 'busy', load: () => new Promise<string>(() => {}) })
    const queued = cache.define({ name: 'queued', load: () => new Promise<string>(() => {}) })
    void watched(busy.get())
    void watched(queued.get())
    await clock.advance(0)
    expect(cache.health().loads).toEqual({ running: 1, queued: 1 })
    expect(await item.get('a')).toBe('old')
    await clock.advance(0)
    expect(cache.health().loads).toEqual({ running: 1, queued: 1 })
    expect(loader.runs).toBe(1)
  })

  it('that fails leaves the fresh value, and is not tried again within errorBackoff', async () => {
    const { clock, loader, item } = await warmed(1_000_000)
    await clock.advance('80s')
    await item.get('a')
    await clock.advance(0)
    loader.fail(new Error('no'))
    await clock.advance(999)
    expect(await item.lookup('a')).toMatchObject({ outcome: 'hit', value: 'old' })
    await clock.advance(0)
    expect(loader.runs).toBe(2)
    await clock.advance(1)
    await item.get('a')
    await clock.advance(0)
    expect(loader.runs).toBe(3)
  })
})
