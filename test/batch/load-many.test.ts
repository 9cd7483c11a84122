// getMany and loadMany: input order, one question, one load, and nobody's value under another's key.

import { describe, expect, test, vi } from 'vitest'
import type { BatchContext } from '../../src/index.ts'
import { spyStore } from '../support/spy-store.ts'
import { controlled, world } from '../support/two-processes.ts'

interface User {
  id: number
  name: string
}

const user = (id: number): User => ({ id, name: `user ${id}` })

/** Processes with a resource whose batches are recorded. */
async function users(options: Parameters<ReturnType<typeof world>['process']>[0] = {}) {
  const { clock, process, store } = world()
  const batches: number[][] = []
  const singles: number[] = []
  const open = async (more = {}) => {
    const cache = await process({ ...options, ...more })
    const resource = cache.define({
      name: 'user',
      load: async (id: number): Promise<User | null> => {
        singles.push(id)
        return user(id)
      },
      loadMany: async (ids) => {
        batches.push([...ids])
        return ids.map((id) => (id < 0 ? null : user(id)))
      },
    })
    return { cache, resource }
  }
  return { clock, store, open, batches, singles }
}

describe('getMany', () => {
  test('keeps input order, answers duplicates at each position, loads what is missing once (T124)', async () => {
    const { open, batches, singles } = await users()
    const { resource } = await open()
    expect(await resource.getMany([3, 1, 3, 2])).toEqual([3, 1, 3, 2].map(user))
    expect(batches).toEqual([[3, 1, 2]])
    expect(await resource.getMany([2, 4, 1, 4, -1])).toEqual([...[2, 4, 1, 4].map(user), null])
    expect(batches).toEqual([
      [3, 1, 2],
      [4, -1],
    ])
    expect(await resource.getMany([-1, 2])).toEqual([null, user(2)])
    expect(batches).toHaveLength(2)
    expect(singles).toEqual([])
  })

  test('an empty list does nothing', async () => {
    const { open, batches } = await users()
    const { resource, cache } = await open()
    expect(await resource.getMany([])).toEqual([])
    expect(await resource.getManySettled([])).toEqual([])
    expect(batches).toEqual([])
    await cache.close()
    expect(await resource.getMany([])).toEqual([])
  })

  test('asks the store once for all, whatever their number, and single gets of one turn too', async () => {
    const { clock, store, process } = world()
    const writer = await process()
    const spy = spyStore(store)
    const define = (cache: typeof writer) =>
      cache.define({ name: 'n', load: (n: number) => n, memory: false })
    const ids = Array.from({ length: 300 }, (_, n) => n)
    await define(writer).getMany(ids)
    await clock.advance(10)
    const reader = define(await process({ store: spy.store }))
    expect(await reader.getMany(ids)).toEqual(ids)
    expect(spy.count('readMany')).toBe(1)
    expect(spy.count('read')).toBe(0)
    expect(spy.count('acquire')).toBe(0)
  })

  test('two batches that overlap load each key once', async () => {
    const { clock, process } = world()
    const cache = await process()
    const batches: number[][] = []
    const source = controlled<undefined>()
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: async (ids) => {
        batches.push([...ids])
        await source.load()
        return [...ids]
      },
    })
    const [one, two] = [resource.getMany([1, 2, 3]), resource.getMany([2, 3, 4])]
    const single = resource.get(1)
    await clock.advance(10)
    expect(batches).toEqual([[1, 2, 3], [4]])
    source.end(undefined)
    source.end(undefined)
    expect(await Promise.all([one, two, single])).toEqual([[1, 2, 3], [2, 3, 4], 1])
    expect(batches).toHaveLength(2)
  })

  test('our share is loaded in one call while we wait for others’', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    const slow = controlled<undefined>()
    const batches: [string, number[]][] = []
    const define = (cache: typeof a, who: string, wait: () => Promise<unknown>) =>
      cache.define({
        name: 'n',
        load: (n: number) => n,
        loadMany: async (ids) => {
          batches.push([who, [...ids]])
          await wait()
          return ids.map((id) => id * 10)
        },
      })
    const [ofA, ofB] = [define(a, 'a', () => slow.load()), define(b, 'b', async () => {})]
    const one = ofA.getMany([1, 2, 3])
    await clock.advance(10)
    const two = ofB.getManySettled([2, 3, 4, 5])
    await clock.advance(10)
    expect(batches).toEqual([
      ['a', [1, 2, 3]],
      ['b', [4, 5]],
    ])
    expect(await ofA.get(5)).toBe(50)
    slow.end(undefined)
    await clock.advance(10)
    expect(await one).toEqual([10, 20, 30])
    expect((await two).map((each) => 'value' in each && each.value)).toEqual([20, 30, 40, 50])
    expect(batches).toHaveLength(2)
  })

  test('when whoever was loading dies, what we waited for is loaded alone', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    const define = (cache: typeof a, load: (n: number) => Promise<number>) =>
      cache.define({
        name: 'n',
        load,
        loadMany: async (ids) => Promise.all(ids.map(load)),
        lease: '1s',
      })
    void define(a, () => new Promise(() => {}))
      .getMany([1, 2])
      .catch(() => {})
    await clock.advance(10)
    const mine = define(b, async (n) => n).getMany([1, 2, 3])
    await clock.advance(10)
    void a.close({ timeout: 0 })
    await clock.advance('3s')
    expect(await mine).toEqual([1, 2, 3])
  })

  test('without loadMany each is loaded by itself', async () => {
    const { process } = world()
    const cache = await process()
    const load = vi.fn((n: number) => n * 2)
    const resource = cache.define({ name: 'n', load })
    expect(await resource.getMany([1, 2, 1])).toEqual([2, 4, 2])
    expect(load).toHaveBeenCalledTimes(2)
  })

  test('an argument without a key rejects the call, or its own place', async () => {
    const { open, batches } = await users()
    const { resource } = await open()
    await expect(resource.getMany([1, Number.NaN])).rejects.toMatchObject({ code: 'INVALID_KEY' })
    expect(batches).toEqual([])
    const settled = await resource.getManySettled([1, Number.NaN, 2])
    expect(settled).toMatchObject([
      { status: 'fulfilled', value: user(1) },
      { status: 'rejected', reason: { code: 'INVALID_KEY' } },
      { status: 'fulfilled', value: user(2) },
    ])
    await expect(resource.getMany('abc' as never)).rejects.toMatchObject({ code: 'INVALID_KEY' })
  })

  test('with values: clone, each position has its own copy', async () => {
    const { open } = await users({ values: 'clone' })
    const { resource } = await open()
    for (let round = 0; round < 2; round++) {
      const [one, two] = await resource.getMany([1, 1])
      expect(one).toEqual(two)
      expect(one).not.toBe(two)
    }
  })

  test('an absent entry that was looked at has no part in a later batch (T057)', async () => {
    const { open, batches } = await users()
    const { resource } = await open()
    expect((await resource.peek(1)).state).toBe('missing')
    expect(await resource.getMany([1])).toEqual([user(1)])
    expect(batches).toEqual([[1]])
  })

  test('stale entries are served at once and refreshed in one call', async () => {
    const { open, batches, singles, clock } = await users({ staleWhileRevalidate: '1h' })
    const { resource } = await open()
    await resource.getMany([1, 2, 3])
    await clock.advance('61s')
    expect(await resource.getMany([1, 2, 3])).toEqual([1, 2, 3].map(user))
    await clock.advance(10)
    expect(batches).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ])
    expect(singles).toEqual([])
  })

  test('counts every position as an answer', async () => {
    const { open } = await users()
    const { resource, cache } = await open()
    await resource.getMany([1, 2, 1])
    await resource.getMany([1, 2, 1])
    expect(cache.counters()['user']).toMatchObject({ loaded: 3, hitMemory: 3, loads: 2 })
  })
})

describe('what loadMany gives', () => {
  const define = async (loadMany: (ids: readonly number[]) => unknown) => {
    const { process } = world()
    const cache = await process()
    const load = vi.fn((id: number): User | null => user(id))
    const resource = cache.define({ name: 'user', load, loadMany: loadMany as never })
    return { cache, resource, load }
  }

  test('a Map is matched by key; what is absent is null', async () => {
    const { resource } = await define(
      (ids) => new Map(ids.filter((id) => id !== 2).map((id) => [id, user(id)])),
    )
    expect(await resource.getMany([1, 2, 3])).toEqual([user(1), null, user(3)])
    expect(await resource.getMany([3, 2, 1])).toEqual([user(3), null, user(1)])
  })

  test('a Map by objects is matched by what they say, not by which they are', async () => {
    const { process } = world()
    const cache = await process()
    const resource = cache.define({
      name: 'page',
      load: async (_at: { id: number; lang: string }): Promise<string | null> => null,
      loadMany: (all) => new Map(all.map(({ id, lang }) => [{ lang, id }, `${id}/${lang}`])),
    })
    const args = [
      { id: 1, lang: 'en' },
      { id: 2, lang: 'de' },
    ]
    expect(await resource.getMany(args)).toEqual(['1/en', '2/de'])
  })

  test.each([
    ['too few', (ids: readonly number[]) => ids.slice(1).map(user), '2 results'],
    ['too many', (ids: readonly number[]) => [...ids, 9].map(user), '4 results'],
    [
      'an object',
      (ids: readonly number[]) => Object.fromEntries(ids.map((id) => [id, user(id)])),
      'object',
    ],
    ['nothing', () => undefined, 'undefined'],
  ])('%s is an error, and nothing is stored (T123)', async (_, loadMany, got) => {
    const { resource, cache } = await define(loadMany)
    await expect(resource.getMany([1, 2, 3])).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      message: expect.stringContaining(got) as string,
    })
    await cache.idle()
    for (const id of [1, 2, 3]) expect((await resource.peek(id)).state).toBe('missing')
  })

  test('an Error at its place is that entry’s failure alone', async () => {
    const { resource } = await define((ids) =>
      ids.map((id) => (id === 2 ? new RangeError('no 2') : user(id))),
    )
    const settled = await resource.getManySettled([1, 2, 3])
    expect(settled).toMatchObject([
      { value: user(1) },
      { reason: { message: 'no 2' } },
      { value: user(3) },
    ])
    await expect(resource.getMany([1, 2])).rejects.toThrow('no 2')
    expect((await resource.peek(1)).state).toBe('fresh')
    expect((await resource.peek(2)).state).toBe('missing')
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('down')
      },
    ],
    [
      'rejects',
      async () => {
        throw new Error('down')
      },
    ],
  ])('when it %s, every caller of the batch is told', async (_, loadMany) => {
    const { resource } = await define(loadMany as never)
    const settled = await resource.getManySettled([1, 2])
    expect(settled).toMatchObject([
      { reason: { message: 'down' } },
      { reason: { message: 'down' } },
    ])
  })
})

describe('the context of a batch', () => {
  test('says things of single entries', async () => {
    const { process, clock } = world()
    const cache = await process({ earlyRefresh: false })
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: (ids, ctx: BatchContext<number>) => {
        expect(ctx.reason).toBe('miss')
        expect(ctx.deadline).toBeGreaterThan(clock.now())
        ctx.entry(1).ttl('1s')
        ctx.entry(2).noStore()
        const { tags } = ctx.entry(3)
        tags('three')
        expect(() => ctx.entry(9)).toThrow('none of the 4')
        return [...ids]
      },
    })
    await resource.getMany([1, 2, 3, 4])
    await cache.idle()
    const states = async () =>
      Promise.all([1, 2, 3, 4].map(async (n) => (await resource.peek(n)).state))
    expect(await states()).toEqual(['fresh', 'missing', 'fresh', 'fresh'])
    await cache.invalidateTags('three')
    await clock.advance('1.1s')
    expect(await states()).toEqual(['missing', 'missing', 'missing', 'fresh'])
  })

  test('aborts when the last caller of all has left, and not before', async () => {
    const { process, clock } = world()
    const cache = await process()
    let signal: AbortSignal | undefined
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: (_ids, ctx) => {
        signal = ctx.signal
        return new Promise(() => {})
      },
    })
    const controller = new AbortController()
    const asked = resource.getMany([1, 2], { signal: controller.signal })
    asked.catch(() => {})
    await clock.advance(10)
    const other = resource.get(2, { timeout: '20s' })
    other.catch(() => {})
    await clock.advance(10)
    controller.abort(new Error('left'))
    await expect(asked).rejects.toThrow('left')
    await clock.advance(10)
    expect(signal!.aborted).toBe(false)
    await clock.advance('31s')
    await expect(other).rejects.toMatchObject({ code: 'WAIT_TIMEOUT' })
    expect(signal!.aborted).toBe(true)
  })

  test('is under the hard deadline', async () => {
    const { process, clock } = world()
    const cache = await process({ loadTimeout: '1s' })
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: () => new Promise(() => {}),
    })
    const asked = resource.getManySettled([1, 2])
    await clock.advance('1.1s')
    expect(await asked).toMatchObject([
      { reason: { code: 'LOAD_TIMEOUT' } },
      { reason: { code: 'LOAD_TIMEOUT' } },
    ])
    expect(cache.health().loads.running).toBe(0)
  })
})

describe('the limiter', () => {
  test('a batch takes one place, however many it loads', async () => {
    const { process } = world()
    const cache = await process({ limit: { concurrency: 1, queue: 0 } })
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: async (ids) => {
        expect(cache.health().loads.running).toBe(1)
        return [...ids]
      },
    })
    const ids = Array.from({ length: 200 }, (_, n) => n)
    expect(await resource.getMany(ids)).toEqual(ids)
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  test('over the limit every caller is told, and nothing is marked as failed', async () => {
    const { process, clock } = world()
    const [cache, other] = [await process({ limit: { concurrency: 1, queue: 0 } }), await process()]
    const busy = controlled<number>()
    void cache.getOrLoad('busy', () => busy.load())
    await clock.advance(10)
    const define = (of: typeof cache) =>
      of.define({ name: 'n', load: (n: number) => n, loadMany: (ids) => [...ids] })
    const settled = await define(cache).getManySettled([1, 2])
    expect(settled).toMatchObject([
      { reason: { code: 'OVERLOADED' } },
      { reason: { code: 'OVERLOADED' } },
    ])
    expect(await define(other).getMany([1, 2])).toEqual([1, 2])
    busy.end(1)
  })

  test('a batch inside a load rides on its place', async () => {
    const { process } = world()
    const cache = await process({ limit: { concurrency: 1, queue: 0 } })
    const item = cache.define({ name: 'n', load: (n: number) => n, loadMany: (ids) => [...ids] })
    const list = cache.define({ name: 'list', load: async () => item.getMany([1, 2, 3]) })
    expect(await list.get()).toEqual([1, 2, 3])
  })
})

describe('nesting', () => {
  test.each([1, 2, 3])('a loader that asks for %d, one of its own, is told so', async (id) => {
    const { process } = world()
    const cache = await process()
    const resource = cache.define({
      name: 'n',
      load: (n: number): number => n,
      loadMany: async (ids): Promise<number[]> => {
        await resource.get(id)
        return [...ids]
      },
    })
    await expect(resource.getMany([1, 2, 3])).rejects.toMatchObject({ code: 'CYCLE' })
  })

  test('a batch that asks for others of its kind loads them', async () => {
    const { process } = world()
    const cache = await process()
    const resource = cache.define({
      name: 'n',
      load: (n: number): number => n,
      loadMany: async (ids): Promise<number[]> => {
        if (ids[0]! < 10) await resource.getMany(ids.map((id) => id + 10))
        return [...ids]
      },
    })
    expect(await resource.getMany([1, 2, 3])).toEqual([1, 2, 3])
    expect((await resource.peek(12)).state).toBe('fresh')
  })
})

describe('changes during a batch', () => {
  test('an invalidation of one entry keeps the others', async () => {
    const { process, clock } = world()
    const [a, b] = [await process(), await process()]
    const source = controlled<undefined>()
    const define = (cache: typeof a) =>
      cache.define({
        name: 'n',
        load: async (n: number): Promise<string> => `new ${n}`,
        loadMany: async (ids) => {
          await source.load()
          return ids.map((id) => `old ${id}`)
        },
      })
    const [ofA, ofB] = [define(a), define(b)]
    const asked = ofA.getMany([1, 2])
    await clock.advance(10)
    await ofB.invalidate(1)
    await clock.advance(10)
    source.end(undefined)
    expect(await asked).toEqual(['old 1', 'old 2'])
    await clock.advance(10)
    expect(await Promise.all([ofA.get(1), ofA.get(2)])).toEqual(['new 1', 'old 2'])
    expect(await Promise.all([ofB.get(1), ofB.get(2)])).toEqual(['new 1', 'old 2'])
  })
})

describe('in degraded mode', () => {
  test('the shape of the answer is the same (T100)', async () => {
    const { faulty, clock } = world()
    const { cache, link } = await faulty()
    const resource = cache.define({
      name: 'n',
      load: async (n: number): Promise<number | null> => n,
      loadMany: (ids) => new Map(ids.filter((id) => id !== 2).map((id) => [id, id])),
    })
    link.fail()
    await clock.advance(10)
    expect(await resource.getMany([1, 2, 3, 2])).toEqual([1, null, 3, null])
    expect(await resource.getManySettled([4])).toEqual([{ status: 'fulfilled', value: 4 }])
  })

  test('an uncacheable entry is loaded each time, the rest once', async () => {
    const { process } = world()
    const cache = await process()
    const batches: number[][] = []
    const resource = cache.define({
      name: 'n',
      load: (n: number) => n,
      loadMany: (ids, ctx) => {
        batches.push([...ids])
        if (ids.includes(2)) ctx.entry(2).private()
        return [...ids]
      },
    })
    expect(await resource.getMany([1, 2])).toEqual([1, 2])
    await cache.idle()
    expect(await resource.getMany([1, 2])).toEqual([1, 2])
    expect(batches).toEqual([[1, 2], [2]])
  })
})
