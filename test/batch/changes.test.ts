// Entries of a batch that change, grow old or are wanted by others while it is under way.

import { describe, expect, test } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

const ascending = (a: number, b: number): number => a - b

/** Two processes on rows that can be changed; common loads of the first end when told. */
async function rows(options = {}) {
  const { process, clock } = world()
  const version = new Map<number, number>()
  const source = controlled<undefined>()
  const batches: number[][] = []
  const read = (id: number): string => `${id}v${version.get(id) ?? 0}`
  const define = (cache: Awaited<ReturnType<typeof process>>, isSlow: boolean) =>
    cache.define({
      name: 'n',
      load: async (id: number): Promise<string | null> => read(id),
      loadMany: async (ids) => {
        batches.push([...ids])
        const read_ = ids.map(read)
        if (isSlow) await source.load()
        return read_
      },
      tags: (_, id) => [`tag ${id}`],
    })
  const [cache, otherCache] = [await process(options), await process(options)]
  return {
    clock,
    source,
    batches,
    cache,
    otherCache,
    one: define(cache, true),
    other: define(otherCache, false),
    change: (id: number) => void version.set(id, (version.get(id) ?? 0) + 1),
  }
}

type Rows = Awaited<ReturnType<typeof rows>>

describe('one entry is changed while a batch loads it', () => {
  test.each<[string, (at: Rows) => Promise<void>]>([
    ['invalidated here', ({ one }) => one.invalidate(2)],
    ['invalidated elsewhere', ({ other }) => other.invalidate(2)],
    ['expired here', ({ one }) => one.expire(2)],
    ['expired elsewhere', ({ other }) => other.expireMany([2])],
    ['written here', ({ one }) => one.set(2, '2v1')],
    ['written elsewhere', ({ other }) => other.set(2, '2v1')],
    ['invalidated by tag', ({ otherCache }) => otherCache.invalidateTags('tag 2')],
  ])(
    '%s: old for who had joined, never for who comes later; the others are kept',
    async (_, run) => {
      const at = await rows()
      const { one, other, clock, source, change, batches } = at
      const asked = watched(one.getMany([1, 2, 3]))
      await clock.advance(10)
      change(2)
      await run(at)
      await clock.advance(10)
      const later = watched(one.getMany([2]))
      await clock.advance(10)
      source.end(undefined)
      await clock.advance(10)
      if (batches.length > 1) source.end(undefined)
      await clock.advance(10)
      expect(asked.value).toEqual(['1v0', '2v0', '3v0'])
      expect(later.value).toEqual(['2v1'])
      for (const resource of [one, other]) {
        const got = watched(resource.getMany([1, 2, 3]))
        await clock.advance(10)
        expect(got.value).toEqual(['1v0', '2v1', '3v0'])
      }
      expect(batches.flat().filter((id) => id !== 2)).toEqual([1, 3])
    },
  )

  test('refreshed: the refresh gets its own load, and what it stored stays', async () => {
    const { one, other, clock, source, change } = await rows()
    const asked = watched(one.getMany([1, 2]))
    await clock.advance(10)
    change(2)
    const refreshed = watched(one.refresh(2))
    await clock.advance(10)
    expect(refreshed.value).toBe('2v1')
    source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual(['1v0', '2v0'])
    expect(await other.getMany([1, 2])).toEqual(['1v0', '2v1'])
    expect(await one.getMany([1, 2])).toEqual(['1v0', '2v1'])
  })

  test('all of them at once: each is loaded anew, and once', async () => {
    const { one, clock, source, change, batches, cache } = await rows()
    const asked = watched(one.getMany([1, 2, 3]))
    await clock.advance(10)
    for (const id of [1, 2, 3]) change(id)
    await cache.clear()
    await one.invalidateMany([1, 2, 3])
    const later = watched(one.getMany([3, 2, 1]))
    await clock.advance(10)
    source.end(undefined)
    source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual(['1v0', '2v0', '3v0'])
    expect(later.value).toEqual(['3v1', '2v1', '1v1'])
    expect(batches).toEqual([
      [1, 2, 3],
      [3, 2, 1],
    ])
  })

  test('three times: no third load of one key runs beside two others, and nobody waits for it', async () => {
    const { one, clock, source, change, batches } = await rows()
    const calls = [watched(one.getMany([1, 2]))]
    for (let n = 0; n < 2; n++) {
      await clock.advance(10)
      change(1)
      await one.invalidate(1)
      calls.push(watched(one.getMany([1, 3 + n])))
    }
    await clock.advance(10)
    // The last one's other key does not wait for the turn of the first.
    expect(batches).toEqual([[1, 2], [1, 3], [4]])
    for (let n = 0; n < 3; n++) source.end(undefined)
    await clock.advance(10)
    expect(calls.map(({ value }) => value)).toEqual([
      ['1v0', '2v0'],
      ['1v1', '3v0'],
      ['1v2', '4v0'],
    ])
  })
})

describe('two batches', () => {
  test('in opposite order in one process load each key once', async () => {
    const { one, clock, source, batches } = await rows()
    const calls = [one.getMany([1, 2, 3, 4]), one.getMany([4, 3, 2, 1]), one.getMany([5, 2, 4])]
    const asked = watched(Promise.all(calls))
    await clock.advance(10)
    for (let left = batches.length; left > 0; left--) source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual([
      ['1v0', '2v0', '3v0', '4v0'],
      ['4v0', '3v0', '2v0', '1v0'],
      ['5v0', '2v0', '4v0'],
    ])
    expect(batches.flat().toSorted(ascending)).toEqual([1, 2, 3, 4, 5])
  })

  test('in opposite order in two processes load each key once', async () => {
    const { one, other, clock, source, batches } = await rows()
    const asked = watched(
      Promise.all([one.getMany([1, 2, 3]), other.getMany([3, 2, 1, 4]), one.getMany([4, 2])]),
    )
    await clock.advance(10)
    for (let n = 0; n < 4 && asked.state === 'pending'; n++) {
      if (batches.length > n) source.end(undefined)
      await clock.advance(10)
    }
    expect(asked.value).toEqual([
      ['1v0', '2v0', '3v0'],
      ['3v0', '2v0', '1v0', '4v0'],
      ['4v0', '2v0'],
    ])
    expect(batches.flat().toSorted(ascending)).toEqual([1, 2, 3, 4])
  })

  test('of loads inside loads that cross are told of their cycle, and end', async () => {
    const { process, clock } = world()
    const cache = await process()
    const resource = cache.define({
      name: 'n',
      load: async (id: number): Promise<number> => id,
      loadMany: async (ids): Promise<number[]> => {
        await new Promise<void>((go) => void clock.after(10, go))
        // The first asks for what the second loads, and the other way round.
        await resource.getMany(ids[0] === 1 ? [4, 3] : [2, 1])
        return [...ids]
      },
    })
    const calls = [watched(resource.getMany([1, 2])), watched(resource.getMany([3, 4]))]
    await clock.advance(50)
    for (const call of calls) {
      expect(call).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
    }
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })
})

describe('older values', () => {
  test('stale ones are served at once and refreshed with what is missing, in one call', async () => {
    const { one, clock, source, batches, change } = await rows({ staleWhileRevalidate: '1h' })
    const first = watched(one.getMany([1, 2]))
    await clock.advance(10)
    source.end(undefined)
    await clock.advance('61s')
    expect(first.value).toEqual(['1v0', '2v0'])
    change(1)
    const asked = watched(one.getManySettled([1, 3, 2]))
    await clock.advance(10)
    expect(batches.slice(1).flat().toSorted(ascending)).toEqual([1, 2, 3])
    while (source.runs > 0 && asked.state === 'pending') {
      source.end(undefined)
      await clock.advance(10)
    }
    expect(asked.value!.map((each) => 'value' in each && each.value)).toEqual(['1v0', '3v0', '2v0'])
    expect(await one.getMany([1, 2, 3])).toEqual(['1v1', '2v0', '3v0'])
  })

  test('a refresh that fails keeps them, and is not tried again during the back-off', async () => {
    const { process, clock } = world()
    const cache = await process({ staleWhileRevalidate: '1h', errorBackoff: '5s' })
    let isDown = false
    const batches: number[][] = []
    const resource = cache.define({
      name: 'n',
      load: async (id: number): Promise<number> => id,
      loadMany: async (ids) => {
        batches.push([...ids])
        if (isDown) throw new Error('down')
        return [...ids]
      },
    })
    await resource.getMany([1, 2])
    await clock.advance('61s')
    isDown = true
    for (let n = 0; n < 3; n++) {
      expect(await resource.getMany([2, 1])).toEqual([2, 1])
      await clock.advance(10)
    }
    expect(batches).toHaveLength(2)
    isDown = false
    await clock.advance('5s')
    await resource.getMany([1, 2])
    await clock.advance(10)
    expect(batches).toEqual([
      [1, 2],
      [2, 1],
      [1, 2],
    ])
  })

  test('hot ones are refreshed before they expire, in one call', async () => {
    // random() decides on the draw of the early refresh: late in the life, it is surely due.
    const clock = { ...manualClock(), random: () => 0.999 }
    const cache = createCache({
      namespace: 'test',
      ttl: '60s',
      jitter: 0,
      store: memoryStore(),
      clock,
      earlyRefresh: { beta: 1_000, maxLead: 0.5 },
    })
    await clock.advance(10)
    const batches: number[][] = []
    const resource = cache.define({
      name: 'n',
      load: async (id: number): Promise<number> => id,
      loadMany: async (ids, ctx) => {
        batches.push([...ids])
        if (batches.length > 1) expect(ctx.reason).toBe('early')
        await new Promise<void>((go) => void clock.after(100, go))
        return [...ids]
      },
    })
    const ids = [1, 2, 3, 4]
    const first = resource.getMany(ids)
    await clock.advance('59s')
    await first
    expect(await resource.getMany(ids)).toEqual(ids)
    await clock.advance(200)
    expect(batches).toEqual([ids, ids])
    expect(await resource.getMany(ids)).toEqual(ids)
    await clock.advance(200)
    expect(batches).toHaveLength(2)
  })

  test('negative ones are served for their own time, and loaded again after it', async () => {
    const { process, clock } = world()
    const cache = await process({ negativeTtl: '5s' })
    const batches: number[][] = []
    const resource = cache.define({
      name: 'n',
      load: async (id: number): Promise<string | null | undefined> => `${id}`,
      loadMany: async (ids) => {
        batches.push([...ids])
        return ids.map((id) => (id === 1 ? null : id === 2 ? undefined : `${id}`))
      },
    })
    const all = [null, undefined, '3']
    expect(await resource.getMany([1, 2, 3])).toEqual(all)
    await clock.advance('4s')
    expect(await resource.getMany([1, 2, 3])).toEqual(all)
    await clock.advance('2s')
    expect(await resource.getMany([1, 2, 3])).toEqual(all)
    expect(batches).toEqual([
      [1, 2, 3],
      [1, 2],
    ])
  })
})
