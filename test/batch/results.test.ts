// What a loadMany may give back, by mistake or in bad faith: no value lands under another's key,
// every caller is told, and nothing is left behind.

import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { BatchContext, EntryContext } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

type LoadMany = (ids: readonly number[], ctx: BatchContext<number>) => unknown

const row = (id: number): string => `row ${id}`

async function resourceOf(loadMany: LoadMany, options = {}) {
  const { process, clock } = world()
  const cache = await process(options)
  const resource = cache.define({
    name: 'n',
    load: async (id: number): Promise<string | null> => `single ${id}`,
    loadMany: loadMany as never,
  })
  return { clock, cache, resource, process }
}

const unhandled: unknown[] = []
const onUnhandled = (reason: unknown): void => void unhandled.push(reason)
beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(async () => {
  await new Promise((resolve) => setImmediate(resolve))
  process.off('unhandledRejection', onUnhandled)
  if (unhandled.length > 0) throw new AggregateError(unhandled, 'unhandled rejections')
})

describe('lists', () => {
  class Rows<T> extends Array<T> {}

  test.each<[string, LoadMany]>([
    ['a frozen one', (ids) => Object.freeze(ids.map(row))],
    ['of a class of its own', (ids) => Rows.from(ids.map(row))],
    ['through a proxy', (ids) => new Proxy(ids.map(row), {})],
    [
      'with getters',
      (ids) => {
        const list: string[] = []
        for (const [n, id] of ids.entries()) Object.defineProperty(list, n, { get: () => row(id) })
        return list
      },
    ],
    // oxlint-disable-next-line unicorn/no-thenable
    ['as a thenable', (ids) => ({ then: (told: (rows: unknown) => void) => told(ids.map(row)) })],
    ['of promises', (ids) => ids.map(async (id) => row(id))],
    [
      'of thenables',
      // oxlint-disable-next-line unicorn/no-thenable
      (ids) => ids.map((id) => ({ then: (told: (text: string) => void) => told(row(id)) })),
    ],
  ])('%s are taken in their order', async (_, loadMany) => {
    const { resource, cache } = await resourceOf(loadMany)
    expect(await resource.getMany([3, 1, 2])).toEqual([3, 1, 2].map(row))
    await cache.idle()
    for (const id of [1, 2, 3]) {
      expect(await resource.peek(id)).toMatchObject({ state: 'fresh', value: row(id) })
    }
  })

  test('a hole at its place is undefined, and shifts nothing', async () => {
    const { resource } = await resourceOf((ids) => {
      const list: string[] = []
      list.length = ids.length
      for (const [n, id] of ids.entries()) if (id !== 2) list[n] = row(id)
      return list
    })
    expect(await resource.getMany([1, 2, 3])).toEqual([row(1), undefined, row(3)])
    expect(await resource.get(3)).toBe(row(3))
  })

  test('a place that throws when it is read rejects them all: the list cannot be read', async () => {
    const { resource } = await resourceOf((ids) =>
      Object.defineProperty(ids.map(row), 1, {
        get: () => {
          throw new Error('no second')
        },
      }),
    )
    expect(await resource.getManySettled([1, 2, 3])).toMatchObject([
      { reason: { message: 'no second' } },
      { reason: { message: 'no second' } },
      { reason: { message: 'no second' } },
    ])
  })

  test('a promise that rejects, or a thenable that throws, is a failure at its place', async () => {
    const { resource } = await resourceOf((ids) =>
      ids.map((id) => {
        if (id === 1) return Promise.reject(new Error('no 1'))
        if (id !== 2) return row(id)
        return {
          // oxlint-disable-next-line unicorn/no-thenable
          then: () => {
            throw new Error('no 2')
          },
        }
      }),
    )
    expect(await resource.getManySettled([1, 2, 3])).toMatchObject([
      { reason: { message: 'no 1' } },
      { reason: { message: 'no 2' } },
      { value: row(3) },
    ])
  })

  test('what cannot be stored at one place is given as it is, and the rest is stored', async () => {
    const live = { send: () => 'hello' }
    const { resource, cache } = await resourceOf((ids) =>
      ids.map((id) => (id === 2 ? live : row(id))),
    )
    const unstorable: unknown[] = []
    cache.on('unstorable', (event) => unstorable.push(event))
    expect(await resource.getMany([1, 2, 3])).toEqual([row(1), live, row(3)])
    await cache.idle()
    expect(unstorable).toEqual([{ name: 'n', key: resource.key(2), path: '$.send: function' }])
    expect((await resource.peek(1)).state).toBe('fresh')
    expect((await resource.peek(2)).state).toBe('missing')
  })

  test('one Error for two places is each one’s own failure', async () => {
    const down = new Error('down')
    const { resource, cache } = await resourceOf((ids) =>
      ids.map((id) => (id > 1 ? down : row(id))),
    )
    const failed: unknown[] = []
    cache.on('loadFailed', ({ key, error }) => failed.push([key, error]))
    const settled = await resource.getManySettled([1, 2, 3])
    expect(settled.map((each) => 'reason' in each && each.reason)).toEqual([false, down, down])
    expect(failed).toEqual([2, 3].map((id) => [resource.key(id), down]))
  })
})

describe('Maps', () => {
  class Table extends Map<number, string> {}

  test('of a class of their own are Maps', async () => {
    const { resource } = await resourceOf((ids) => new Table(ids.map((id) => [id, row(id)])))
    expect(await resource.getMany([2, 1])).toEqual([row(2), row(1)])
  })

  test('with rows that nobody asked for give them to nobody', async () => {
    const { resource } = await resourceOf(
      () => new Map<unknown, string>([7, 1, 'one', { id: 1 }].map((key) => [key, `row ${key}`])),
    )
    expect(await resource.getMany([1, 2])).toEqual([row(1), null])
    expect((await resource.peek(7)).state).toBe('missing')
  })

  test('with a key that is none are refused whole, as nobody knows whose row that is', async () => {
    const { resource, cache } = await resourceOf(
      (ids) => new Map<unknown, string>([...ids, Number.NaN].map((key) => [key, `row ${key}`])),
    )
    expect(await resource.getManySettled([1, 2])).toMatchObject([
      { reason: { code: 'INVALID_KEY' } },
      { reason: { code: 'INVALID_KEY' } },
    ])
    await cache.idle()
    expect((await resource.peek(1)).state).toBe('missing')
  })

  test('may hold Errors, undefined and promises', async () => {
    const { resource } = await resourceOf(
      (ids) =>
        new Map<number, unknown>([
          [ids[0]!, new Error('no first')],
          [ids[1]!, undefined],
          [ids[2]!, Promise.resolve('third')],
        ]),
    )
    expect(await resource.getManySettled([1, 2, 3, 4])).toMatchObject([
      { reason: { message: 'no first' } },
      { value: undefined },
      { value: 'third' },
      { value: null },
    ])
  })
})

describe('neither', () => {
  test.each<[string, LoadMany, string]>([
    ['a Set', (ids) => new Set(ids.map(row)), 'an object'],
    ['a generator', (ids) => ids.map(row).values(), 'an object'],
    ['typed numbers', (ids) => Float64Array.from(ids), 'an object'],
    ['an array-like', (ids) => ({ ...ids.map(row), length: ids.length }), 'an object'],
    ['text as long as the list', () => 'ab', '"ab"'],
    ['null', () => null, 'null'],
    ['a list in a list', (ids) => [ids.map(row)], '1 results'],
  ])('%s is an error for every place', async (_, loadMany, got) => {
    const { resource, cache } = await resourceOf(loadMany)
    const settled = await resource.getManySettled([1, 2])
    expect(settled).toMatchObject([
      { reason: { code: 'INVALID_OPTION' } },
      { reason: { code: 'INVALID_OPTION' } },
    ])
    expect(String((settled[0] as PromiseRejectedResult).reason)).toContain(got)
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  test.each<[string, unknown]>([
    ['nothing at all', undefined],
    ['null', null],
    ['text', 'down'],
  ])('a loadMany that throws %s rejects with just that', async (_, thrown) => {
    const { resource } = await resourceOf(() => {
      throw thrown
    })
    expect(await resource.getManySettled([1, 2])).toEqual([
      { status: 'rejected', reason: thrown },
      { status: 'rejected', reason: thrown },
    ])
    expect(await resource.get(1)).toBe('single 1')
  })
})

describe('what is said of single entries', () => {
  test('after the load has ended changes nothing', async () => {
    const kept: EntryContext[] = []
    const { resource, cache, clock } = await resourceOf((ids, { entry }) => {
      kept.push(...ids.map((id) => entry(id)))
      return ids.map(row)
    })
    await resource.getMany([1, 2])
    await cache.idle()
    for (const { ttl, tags, noStore, private: own, meta } of kept) {
      ttl('1s')
      tags('late')
      noStore()
      own()
      meta('late')
    }
    await cache.invalidateTags('late')
    await clock.advance('2s')
    expect(await resource.peek(1)).toMatchObject({ state: 'fresh', value: row(1), meta: undefined })
  })

  test('may be said by closures, before the load’s end, of each entry alone', async () => {
    const source = controlled<undefined>()
    let said: ((id: number) => EntryContext) | undefined
    const { resource, cache, clock } = await resourceOf(async (ids, { entry }) => {
      said = entry
      await source.load()
      return ids.map(row)
    })
    const asked = resource.getMany([1, 2, 3])
    await clock.advance(10)
    const { ttl, meta } = said!(2)
    ttl('1s')
    meta({ etag: 'two' })
    source.end(undefined)
    await asked
    await cache.idle()
    expect(await resource.peek(2)).toMatchObject({ state: 'fresh', meta: { etag: 'two' } })
    expect(await resource.peek(3)).toMatchObject({ state: 'fresh', meta: undefined })
    await clock.advance('2s')
    expect((await resource.peek(2)).state).toBe('missing')
    expect((await resource.peek(3)).state).toBe('fresh')
  })

  test('of what is not among them throws there, and names it', async () => {
    const { resource } = await resourceOf((ids, ctx) => {
      ctx.entry(5)
      return ids.map(row)
    })
    expect(await resource.getManySettled([1, 2])).toMatchObject([
      { reason: { code: 'INVALID_KEY', key: resource.key(5) } },
      { reason: { code: 'INVALID_KEY', key: resource.key(5) } },
    ])
  })

  test('a private entry is loaded again for whoever had joined, the others are shared', async () => {
    const batches: number[][] = []
    const source = controlled<undefined>()
    const { resource, process, clock } = await resourceOf(async (ids, ctx) => {
      batches.push([...ids])
      ctx.entry(2).private()
      await source.load()
      return ids.map(row)
    })
    const other = (await process()).define({
      name: 'n',
      load: async (id: number): Promise<string | null> => `other ${id}`,
    })
    const asked = watched(resource.getMany([1, 2, 2, 3]))
    await clock.advance(10)
    const joined = watched(resource.get(2))
    const elsewhere = watched(other.getMany([1, 2, 3]))
    await clock.advance(10)
    source.end(undefined)
    await clock.advance('1s')
    expect(asked.value).toEqual([row(1), row(2), 'single 2', row(3)])
    expect(joined.value).toBe('single 2')
    expect(elsewhere.value).toEqual([row(1), 'other 2', row(3)])
    expect(batches).toEqual([[1, 2, 3]])
  })

  test('a noStore entry is given to who had joined, elsewhere it is loaded; the rest is kept', async () => {
    const source = controlled<undefined>()
    const { resource, cache, clock } = await resourceOf(async (ids, ctx) => {
      ctx.entry(1).noStore()
      await source.load()
      return ids.map(row)
    })
    const asked = watched(resource.getMany([1, 2, 1]))
    await clock.advance(10)
    const joined = watched(resource.getMany([2, 1]))
    await clock.advance(10)
    source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual([row(1), row(2), row(1)])
    expect(joined.value).toEqual([row(2), row(1)])
    await cache.idle()
    expect((await resource.peek(1)).state).toBe('missing')
    expect((await resource.peek(2)).state).toBe('fresh')
  })
})
