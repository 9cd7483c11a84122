// Batches of entries that live by other rules: not in one tier or the other, not at all, or given
// to callers in another way.

import { describe, expect, test } from 'vitest'
import type { CacheOptions } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

const ascending = (a: number, b: number): number => a - b

interface Row {
  id: number
  list: number[]
}

const row = (id: number): Row => ({ id, list: [id] })

async function rows(options: Partial<CacheOptions> = {}, definition = {}) {
  const { process, clock } = world()
  const batches: number[][] = []
  const singles: number[] = []
  const define = (cache: Awaited<ReturnType<typeof process>>) =>
    cache.define({
      name: 'row',
      load: async (id: number): Promise<Row | null> => {
        singles.push(id)
        return row(id)
      },
      loadMany: async (ids) => {
        batches.push([...ids])
        return ids.map(row)
      },
      ...definition,
    })
  const [cache, otherCache] = [await process(options), await process(options)]
  return { clock, cache, batches, singles, one: define(cache), other: define(otherCache) }
}

describe.each<[string, Partial<CacheOptions>, object, number]>([
  // The last: common loads of two processes that ask three times each, one after the other.
  ['in both tiers', {}, {}, 1],
  ['not in memory', {}, { memory: false }, 1],
  ['in a cache without memory', { memory: false }, {}, 1],
  ['not in the store', {}, { store: false }, 2],
  ['in a cache without a store', { store: undefined }, {}, 2],
  ['in neither tier', {}, { memory: false, store: false }, 6],
  ['with ttl 0', {}, { ttl: 0 }, 6],
  ['in a cache that is not enabled', { enabled: false }, {}, 6],
])('entries %s', (_, options, definition, loads) => {
  test('come in the order that was asked for, in as few loads as can be', async () => {
    const { one, other, batches, singles, cache, clock } = await rows(options, definition)
    for (let n = 0; n < 3; n++) {
      for (const resource of [one, other]) {
        const got = watched(resource.getMany([3, 1, 3, 2]))
        await clock.advance(10)
        expect(got.value).toEqual([3, 1, 3, 2].map(row))
      }
    }
    expect(batches).toEqual(Array.from({ length: loads }, () => [3, 1, 2]))
    expect(singles).toEqual([])
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  test('are shared while they are loaded, by batches that overlap', async () => {
    const source = controlled<undefined>()
    const batches: number[][] = []
    const loadMany = async (ids: readonly number[]) => {
      batches.push([...ids])
      await source.load()
      return ids.map(row)
    }
    const { one, clock } = await rows(options, { ...definition, loadMany })
    const calls = [
      [1, 2],
      [2, 1, 3],
      [3, 3],
    ].map((ids) => watched(one.getMany(ids)))
    await clock.advance(10)
    for (const _batch of batches) source.end(undefined)
    await clock.advance(10)
    expect(calls.map(({ value }) => value?.map((each) => each?.id))).toEqual([
      [1, 2],
      [2, 1, 3],
      [3, 3],
    ])
    expect(batches.flat().toSorted(ascending)).toEqual([1, 2, 3])
  })
})

describe('values', () => {
  test.each(['freeze', 'share'] as const)('%s: one for all of a key', async (values) => {
    const { one, cache } = await rows({ values, store: undefined })
    const [first, second, third] = await one.getMany([1, 1, 2])
    expect(first).toBe(second)
    expect(third).not.toBe(first)
    expect(Object.isFrozen(first!.list)).toBe(values === 'freeze')
    await cache.idle()
    const again = await one.getMany([2, 1])
    expect(again).toEqual([row(2), row(1)])
    expect(again[1]).toBe(first)
  })

  test('share: the loader’s own objects, each under its own key', async () => {
    const own = new Map<number, Row>()
    const loadMany = (ids: readonly number[]) => {
      for (const id of ids) own.set(id, row(id))
      return ids.map((id) => own.get(id)!)
    }
    const { one } = await rows({ values: 'share', store: undefined }, { loadMany })
    for (let n = 0; n < 2; n++) {
      const got = await one.getMany([2, 1])
      expect(got[0]).toBe(own.get(2))
      expect(got[1]).toBe(own.get(1))
    }
  })

  test('clone: what one caller does to its copy nobody else sees, from whichever tier', async () => {
    const { one, other, clock } = await rows({ values: 'clone' })
    for (const resource of [one, one, other, other]) {
      const got = await resource.getMany([1, 2, 1])
      await clock.advance(10)
      expect(got).toEqual([row(1), row(2), row(1)])
      for (const each of got) each!.list.push(99)
    }
  })

  test('freeze: one object that the loader gives for two keys is frozen as a copy', async () => {
    const same = row(0)
    const { one } = await rows({}, { loadMany: (ids: readonly number[]) => ids.map(() => same) })
    expect(await one.getMany([1, 2])).toEqual([same, same])
    expect(Object.isFrozen(same)).toBe(false)
  })
})

describe('uncacheable entries', () => {
  test('are loaded side by side by all who ask, none waits for another', async () => {
    const source = controlled<undefined>()
    const batches: number[][] = []
    const { one, other, clock } = await rows(
      {},
      {
        loadMany: async (
          ids: readonly number[],
          ctx: { entry(id: number): { noStore(): void } },
        ) => {
          batches.push([...ids])
          if (ids.includes(2)) ctx.entry(2).noStore()
          if (batches.length > 1) await source.load()
          return ids.map(row)
        },
      },
    )
    await one.getMany([1, 2, 3])
    await clock.advance(10)
    const calls = [one, one, other].map((resource) => watched(resource.getMany([1, 2, 3])))
    await clock.advance(10)
    expect(batches.slice(1)).toEqual([[2], [2], [2]])
    for (const _ of calls) source.end(undefined)
    await clock.advance(10)
    for (const call of calls) expect(call.value).toEqual([1, 2, 3].map(row))
  })

  test('are stored again when they may be, after their time', async () => {
    let isOff = true
    const { one, batches, clock } = await rows(
      { uncacheableFor: '5s' },
      {
        loadMany: (ids: readonly number[], ctx: { entry(id: number): { noStore(): void } }) => {
          batches.push([...ids])
          if (isOff) for (const id of ids) ctx.entry(id).noStore()
          return ids.map(row)
        },
      },
    )
    await one.getMany([1, 2])
    isOff = false
    await clock.advance('6s')
    for (let n = 0; n < 3; n++) expect(await one.getMany([2, 1])).toEqual([row(2), row(1)])
    expect(batches).toEqual([
      [1, 2],
      [2, 1],
    ])
  })
})

describe('errorTtl', () => {
  test('a failure of one entry is remembered for that one alone', async () => {
    const batches: number[][] = []
    const { one, clock } = await rows(
      { errorTtl: '5s' },
      {
        loadMany: (ids: readonly number[]) => {
          batches.push([...ids])
          return ids.map((id) => (id === 2 ? new Error('no 2') : row(id)))
        },
      },
    )
    for (let n = 0; n < 2; n++) {
      expect(await one.getManySettled([1, 2, 3 + n])).toMatchObject([
        { value: row(1) },
        { reason: { message: 'no 2' } },
        { value: row(3 + n) },
      ])
    }
    expect(batches).toEqual([[1, 2, 3], [4]])
    await clock.advance('6s')
    await one.getManySettled([1, 2])
    expect(batches).toEqual([[1, 2, 3], [4], [2]])
  })
})
