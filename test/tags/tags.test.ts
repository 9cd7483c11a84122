// Changes by tag on every tier, between processes that hear each other. The same cases on one
// in-process store under a manual clock; what needs a real Redis stands in redis-tags.test.ts.

import { describe, expect, test } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'

interface Product {
  id: number
  name: string
}

/** A shop whose processes load from one source. */
async function shop(options: Parameters<ReturnType<typeof world>['process']>[0] = {}) {
  const { clock, process, faulty, store } = world()
  const source = new Map<number, string>()
  let loads = 0
  const open = async (more = {}) => {
    const cache = await process({ ...options, ...more })
    const product = cache.define({
      name: 'product',
      load: async (id: number): Promise<Product> => {
        loads++
        return { id, name: source.get(id) ?? `product ${id}` }
      },
      tags: (_, id) => ['products', `product:${id}`],
    })
    return { cache, product }
  }
  return {
    clock,
    store,
    source,
    open,
    faulty,
    get loads() {
      return loads
    },
  }
}

describe('invalidateTags', () => {
  test('reaches every entry that carries one of the tags, in every process, and no other', async () => {
    const all = await shop()
    const [a, b] = [await all.open(), await all.open()]
    for (const { product } of [a, b]) await product.getMany([1, 2, 3])
    expect(all.loads).toBe(3)
    all.source.set(1, 'new')
    all.source.set(2, 'not asked for')
    await a.cache.invalidateTags(['product:1', 'nothing has this one'])
    await all.clock.advance(10)
    for (const { product } of [a, b]) {
      expect((await product.get(1)).name).toBe('new')
      expect((await product.get(2)).name).toBe('product 2')
    }
    expect(all.loads).toBe(4)
    await b.cache.invalidateTags('products')
    await all.clock.advance(10)
    expect((await a.product.get(2)).name).toBe('not asked for')
    expect(all.loads).toBe(5)
  })

  test('is right for a process that has just started (T069)', async () => {
    const all = await shop()
    const a = await all.open()
    await a.product.get(1)
    all.source.set(1, 'new')
    await a.cache.invalidateTags('product:1')
    const cold = all.open()
    await all.clock.advance(0)
    expect((await (await cold).product.get(1)).name).toBe('new')
    expect(all.loads).toBe(2)
  })

  test('an entry that is newer than the invalidation is valid (T078)', async () => {
    const all = await shop()
    const [a, b] = [await all.open(), await all.open()]
    await a.product.get(1)
    await a.cache.invalidateTags('product:1')
    await all.clock.advance(10)
    await a.product.get(1)
    await all.clock.advance(10)
    const { outcome } = await b.product.lookup(1)
    expect(outcome).toBe('hit')
    for (let n = 0; n < 5; n++) await a.product.get(1)
    expect(all.loads).toBe(2)
  })

  test('of nothing does nothing, and of what is no tag is refused', async () => {
    const all = await shop()
    const { cache } = await all.open()
    await cache.invalidateTags([])
    for (const wrong of [undefined, 7, [7], ['a', null]]) {
      await expect(cache.invalidateTags(wrong as never)).rejects.toMatchObject({
        code: 'INVALID_OPTION',
      })
    }
    await expect(cache.invalidateTags('a', { settel: '1s' } as never)).rejects.toThrow('settle?')
  })

  test.each(['@*', '@r:product', '', '{}', '__proto__', 'toString', '\ud800', 'x'.repeat(5_000)])(
    'any text is a tag and names nothing else: %j',
    async (tag) => {
      const { process, clock } = world()
      const [a, b] = [await process(), await process()]
      let loads = 0
      const load = async () => ++loads
      const both = [a, b].map((cache) => ({
        with: cache.define({ name: 'product', load, tags: [tag] }),
        without: cache.define({ name: 'other', load }),
      }))
      await both[0]!.with.get()
      await both[0]!.without.get()
      await b.invalidateTags(tag === '\ud800' ? '\ud801' : `${tag}!`)
      await clock.advance(10)
      expect(await both[0]!.with.get()).toBe(1)
      await b.invalidateTags(tag)
      await clock.advance(10)
      expect(await both[0]!.with.get()).toBe(3)
      expect(await both[1]!.without.get()).toBe(2)
    },
  )

  test('after expireTags revives nothing, and after it expireTags revives nothing', async () => {
    const all = await shop({ staleWhileRevalidate: '1h' })
    const { cache, product } = await all.open()
    for (const order of [
      ['invalidateTags', 'expireTags'],
      ['expireTags', 'invalidateTags'],
    ] as const) {
      await product.get(1)
      for (const verb of order) await cache[verb]('product:1')
      expect((await product.lookup(1)).outcome).toBe('loaded')
    }
  })
})

describe('expireTags', () => {
  test('keeps stale answers, here and elsewhere, and one process refreshes', async () => {
    const all = await shop({ staleWhileRevalidate: '30s' })
    const [a, b] = [await all.open(), await all.open()]
    for (const { product } of [a, b]) await product.get(1)
    all.source.set(1, 'new')
    await a.cache.expireTags('products')
    await all.clock.advance(10)
    const [one, two] = [await a.product.lookup(1), await b.product.lookup(1)]
    expect([one.outcome, two.outcome]).toEqual(['stale', 'stale'])
    await all.clock.advance(100)
    for (const { product } of [a, b]) {
      expect(await product.lookup(1)).toMatchObject({ outcome: 'hit', value: { name: 'new' } })
    }
    expect(all.loads).toBe(2)
    const cold = await all.open()
    expect(await cold.product.lookup(1)).toMatchObject({ outcome: 'hit', value: { name: 'new' } })
  })

  test('the windows run from the change, also for who reads the frame first', async () => {
    const all = await shop({ staleWhileRevalidate: '30s', memory: false })
    const [a, b] = [await all.open(), await all.open()]
    await a.product.get(1)
    await a.cache.expireTags('products')
    await all.clock.advance('31s')
    expect((await b.product.lookup(1)).outcome).toBe('loaded')
  })

  test('with no window it is an invalidation', async () => {
    const all = await shop()
    const { cache, product } = await all.open()
    await product.get(1)
    await cache.expireTags('products')
    expect((await product.lookup(1)).outcome).toBe('loaded')
  })

  test('the next load is given what was there', async () => {
    const { process } = world()
    const cache = await process({ staleIfError: '1h' })
    const seen: unknown[] = []
    const item = cache.define({
      name: 'item',
      load: (id: string, ctx) => {
        seen.push(ctx.previous?.value)
        return id + seen.length
      },
      tags: ['t'],
    })
    await item.get('a')
    await cache.expireTags('t')
    await item.get('a')
    await cache.invalidateTags('t')
    await item.get('a')
    expect(seen).toEqual([undefined, 'a1', undefined])
  })
})

describe('clear and expireAll', () => {
  test('of a resource leave the others, of the cache nothing', async () => {
    const all = await shop()
    const [a, b] = [await all.open(), await all.open()]
    const name = 'other'
    const others = [a, b].map(({ cache }) => cache.define({ name, load: (n: number) => n }))
    for (const { product } of [a, b]) await product.get(1)
    for (const other of others) await other.get(1)
    await a.cache.getOrLoad('one-off', () => 1)
    await a.product.clear()
    await all.clock.advance(10)
    expect((await b.product.lookup(1)).outcome).toBe('loaded')
    expect((await b.cache.peek('one-off')).state).toBe('fresh')
    for (const other of others) expect((await other.lookup(1)).outcome).toBe('hit')
    await b.cache.clear()
    await all.clock.advance(10)
    expect((await a.product.lookup(1)).outcome).toBe('loaded')
    expect((await others[0]!.lookup(1)).outcome).toBe('loaded')
    expect((await b.cache.peek('one-off')).state).toBe('missing')
  })

  test('of one namespace leave another on the same store alone (T067)', async () => {
    const { clock, store, process } = world()
    const [one, two] = [await process(), await process({ namespace: 'two' })]
    const items = [one, two].map((cache) =>
      cache.define({ name: 'item', load: () => 1, store: true }),
    )
    for (const item of items) await item.get()
    await one.clear()
    await clock.advance(10)
    expect((await items[0]!.lookup()).outcome).toBe('loaded')
    expect(await items[1]!.lookup()).toMatchObject({ outcome: 'hit', tier: 'memory' })
    void store
  })

  test('expireAll keeps stale answers', async () => {
    const all = await shop({ staleIfError: '1h', staleWhileRevalidate: '1h' })
    const [a, b] = [await all.open(), await all.open()]
    await a.product.get(1)
    await b.cache.expireAll()
    await all.clock.advance(10)
    expect((await a.product.lookup(1)).outcome).toBe('stale')
  })

  test('a hard clear leaves nothing for an error to be covered with (T024)', async () => {
    const { process, clock } = world()
    const [a, b] = [await process({ staleIfError: '1h' }), await process({ staleIfError: '1h' })]
    let fails = false
    const load = async () => {
      if (fails) throw new Error('the source is down')
      return 'old'
    }
    const [itemA, itemB] = [a, b].map((cache) => cache.define({ name: 'item', load }))
    await itemA!.get()
    await itemB!.get()
    await clock.advance('61s')
    await a.clear()
    await clock.advance(10)
    fails = true
    for (const item of [itemA!, itemB!])
      await expect(item.get()).rejects.toThrow('the source is down')
  })

  test('work in a cache without a store, and in one without memory', async () => {
    for (const options of [{ store: undefined }, { memory: false as const }]) {
      const { process } = world()
      const cache = await process(options)
      let loads = 0
      const item = cache.define({ name: 'item', load: () => ++loads, tags: ['t'] })
      expect(await item.get()).toBe(1)
      expect(await item.get()).toBe(1)
      await item.clear()
      expect(await item.get()).toBe(2)
      await cache.invalidateTags('t')
      expect(await item.get()).toBe(3)
      await cache.clear()
      expect(await item.get()).toBe(4)
      expect(await item.get()).toBe(4)
    }
  })
})

describe('a load that a change by tag overtakes', () => {
  test.each([
    ['tags of the value', { tags: (value: string) => [`v:${value}`] }],
    ['tags of the definition', { tags: ['v:old'] }],
    ['tags that the loader says', { says: 'v:old' }],
  ])('answers who had joined, and nobody later; kept nowhere (T061, T063): %s', async (_, how) => {
    const { process, clock } = world()
    const [a, b] = [await process(), await process()]
    const source = controlled<string>()
    const define = (cache: typeof a) =>
      cache.define({
        name: 'item',
        load: async (_id: string, ctx): Promise<string> => {
          const value = await source.load()
          if ('says' in how) ctx.tags(how.says)
          return value
        },
        ...('tags' in how ? { tags: how.tags as never } : {}),
      })
    const [itemA, itemB] = [define(a), define(b)]
    const before = itemA.get('k')
    await clock.advance(10)
    expect(source.runs).toBe(1)
    await b.invalidateTags('v:old')
    await clock.advance(10)
    const [later, elsewhere] = [itemA.get('k'), itemB.get('k')]
    await clock.advance(10)
    source.end('old')
    expect(await before).toBe('old')
    await clock.advance(10)
    expect(source.runs).toBe(2)
    source.end('new')
    await clock.advance(10)
    expect(await Promise.all([later, elsewhere])).toEqual(['new', 'new'])
    expect(await Promise.all([itemA.get('k'), itemB.get('k')])).toEqual(['new', 'new'])
    expect(source.runs).toBe(2)
  })

  test('a background refresh, too (T063)', async () => {
    const { process, clock } = world()
    const cache = await process({ staleWhileRevalidate: '1h' })
    const source = controlled<string>()
    const item = cache.define({ name: 'item', load: () => source.load(), tags: ['t'] })
    const first = item.get()
    await clock.advance(10)
    source.end('one')
    await first
    await clock.advance('61s')
    expect(await item.get()).toBe('one')
    await clock.advance(10)
    expect(source.runs).toBe(2)
    await cache.invalidateTags('t')
    source.end('of before')
    await clock.advance(10)
    const next = item.get()
    await clock.advance(10)
    source.end('new')
    expect(await next).toBe('new')
  })
})

describe('a deploy that changes tags', () => {
  test('adds one: entries of before are reached by it (T066)', async () => {
    const { process, clock } = world()
    const [old, new_] = [await process(), await process()]
    let loads = 0
    const load = () => ++loads
    await old.define({ name: 'item', load, tags: ['a', 'c'] }).get()
    const item = new_.define({ name: 'item', load, tags: ['a', 'b', 'c'] })
    expect(await item.get()).toBe(1)
    await old.invalidateTags('b')
    await clock.advance(10)
    expect(await item.get()).toBe(2)
  })

  test('drops one: entries that still carry it are reached by it', async () => {
    const { process, clock } = world()
    const [old, new_] = [await process(), await process()]
    let loads = 0
    const load = () => ++loads
    await old.define({ name: 'item', load, tags: ['a', 'b'] }).get()
    const item = new_.define({ name: 'item', load, tags: ['a'] })
    expect(await item.get()).toBe(1)
    await old.invalidateTags('b')
    await clock.advance(10)
    expect(await item.get()).toBe(2)
  })
})

describe('tags that cannot be had', () => {
  test.each([
    [
      'throw',
      () => {
        throw new Error('no tags')
      },
    ],
    ['are no list', () => 'text' as never],
    ['are no texts', () => [7] as never],
    ['are too many', () => Array.from({ length: 1_001 }, (_, n) => `t${n}`)],
  ] as const)('when they %s, the value is answered, not stored, and told of', async (_, tags) => {
    const { process } = world()
    const cache = await process()
    const failed: string[] = []
    cache.on('callbackFailed', ({ callback }) => failed.push(callback))
    let loads = 0
    const item = cache.define({ name: 'item', load: () => ++loads, tags })
    expect(await item.get()).toBe(1)
    expect(failed).toEqual(['tags'])
    expect((await item.peek()).state).toBe('missing')
    expect(await item.get()).toBe(2)
    await item.set(undefined, 5)
    expect(failed).toHaveLength(3)
    expect((await item.peek()).state).toBe('missing')
  })
})

describe('set', () => {
  test('a value carries its tags, and one that a tag overtakes is not kept', async () => {
    const all = await shop()
    const [a, b] = [await all.open(), await all.open()]
    await a.product.set(1, { id: 1, name: 'set' })
    await all.clock.advance(10)
    expect((await b.product.get(1)).name).toBe('set')
    await b.cache.invalidateTags('product:1')
    await all.clock.advance(10)
    expect((await a.product.get(1)).name).toBe('product 1')
    await a.cache.set('k', 1, { tags: ['t'] })
    await b.cache.invalidateTags('t')
    await all.clock.advance(10)
    expect((await a.cache.peek('k')).state).toBe('missing')
  })
})

describe('a one-off', () => {
  test('has tags as well', async () => {
    const { process, clock } = world()
    const [a, b] = [await process(), await process()]
    let loads = 0
    const get = (cache: typeof a) =>
      cache.getOrLoad('k', () => ++loads, { tags: (value, key) => [`${key}:${value}`] })
    expect(await get(a)).toBe(1)
    expect(await get(b)).toBe(1)
    await b.invalidateTags('k:1')
    await clock.advance(10)
    expect(await get(a)).toBe(2)
  })
})

describe('notModified', () => {
  test('renews the tags with the value', async () => {
    const { process, clock } = world()
    const cache = await process({ staleIfError: '1h' })
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: (_id: string, ctx): string => {
        loads++
        if (ctx.previous !== undefined) return ctx.notModified()
        ctx.tags('t')
        return `value ${loads}`
      },
    })
    await item.get('a')
    await clock.advance('61s')
    expect(await item.get('a')).toBe('value 1')
    await cache.invalidateTags('t')
    expect(await item.get('a')).toBe('value 3')
  })
})

describe('settle: a source that is read from lagging replicas', () => {
  test.each(['invalidate', 'invalidateMany', 'invalidateTags'] as const)(
    '%s: what is loaded until then is used no longer than that, in any process (T075)',
    async (verb) => {
      const all = await shop({ staleIfError: '1h', staleWhileRevalidate: '1h' })
      const [a, b] = [await all.open(), await all.open()]
      all.source.set(1, 'old')
      for (const { product } of [a, b]) await product.get(1)
      const settle = { settle: '2s' } as const
      if (verb === 'invalidateTags') await a.cache.invalidateTags('product:1', settle)
      else if (verb === 'invalidate') await a.product.invalidate(1, settle)
      else await a.product.invalidateMany([1], settle)
      await a.cache.close()
      await all.clock.advance('1s')
      expect((await b.product.lookup(1)).outcome).toBe('loaded')
      all.source.set(1, 'new') // the replica has caught up
      await all.clock.advance(500)
      expect((await b.product.get(1)).name).toBe('old')
      const cold = await all.open()
      expect((await cold.product.get(1)).name).toBe('old')
      await all.clock.advance(600)
      for (const { product } of [b, cold]) {
        expect(await product.lookup(1)).toMatchObject({ value: { name: 'new' } })
      }
      expect(all.loads).toBe(3)
      await all.clock.advance('30s')
      expect((await b.product.lookup(1)).outcome).toBe('hit')
    },
  )

  test('works in a cache without a store', async () => {
    const { process, clock } = world()
    const cache = await process({ store: undefined })
    let loads = 0
    const item = cache.define({ name: 'item', load: () => ++loads })
    await item.get()
    await item.invalidate(undefined, { settle: '2s' })
    expect(await item.get()).toBe(2)
    await clock.advance('1s')
    expect(await item.get()).toBe(2)
    await clock.advance('1.1s')
    expect(await item.get()).toBe(3)
    await clock.advance('10s')
    expect(await item.get()).toBe(3)
  })
})

describe('losing touch', () => {
  test('an invalidation that the store does not take is applied here, rejects, and is repeated', async () => {
    const all = await shop({ connectTimeout: '50ms' })
    const { cache, link } = await all.faulty()
    let loads = 0
    const define = (of: typeof cache) =>
      of.define({ name: 'item', load: () => ++loads, tags: ['t'] })
    const here = define(cache)
    const there = define((await all.open()).cache)
    expect(await here.get()).toBe(1)
    expect(await there.get()).toBe(1)
    link.fail()
    await expect(cache.invalidateTags('t')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(await here.get()).toBe(2)
    expect(await here.get()).toBe(2)
    link.heal()
    await all.clock.advance('6s')
    expect(cache.health().status).toBe('ok')
    expect(await there.get()).toBe(3)
    await all.clock.advance(10)
    expect(await here.get()).toBe(3)
  })

  test('a deaf process stops serving what was invalidated by tag within 5 s', async () => {
    const all = await shop()
    const b = await all.open()
    const { cache, link } = await all.faulty()
    let loads = 0
    const item = cache.define({ name: 'item', load: () => ++loads, tags: ['t'] })
    expect(await item.get()).toBe(1)
    link.hang()
    await all.clock.advance('3s')
    await b.cache.invalidateTags('t')
    link.heal()
    await all.clock.advance('5s')
    expect(await item.get()).toBe(2)
  })
})
