// A common load takes one place among all loads of the process, and gives it back.

import { describe, expect, test } from 'vitest'
import type { CacheOptions } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

/** One place, and a load that has it. */
async function busy(options: Partial<CacheOptions> = {}) {
  const { process, clock } = world()
  const cache = await process({ limit: { concurrency: 1, queue: '5s' }, ...options })
  const holder = controlled<number>()
  cache.getOrLoad('busy', holder.load, { loadTimeout: '60s' }).catch(() => {})
  await clock.advance(10)
  const batches: number[][] = []
  const resource = cache.define({
    name: 'n',
    load: async (id: number) => id,
    loadMany: async (ids) => (batches.push([...ids]), [...ids]),
  })
  return { cache, clock, process, holder, batches, resource }
}

describe('a batch that waits for its place', () => {
  test('is joined by a call with maxAge, as it has not begun', async () => {
    const { resource, clock, holder, batches } = await busy()
    const asked = watched(resource.getMany([1, 2]))
    await clock.advance(100)
    const fresh = watched(resource.getMany([2, 1], { maxAge: 50 }))
    await clock.advance(10)
    holder.end(1)
    await clock.advance('1s')
    expect(asked.value).toEqual([1, 2])
    expect(fresh.value).toEqual([2, 1])
    expect(batches).toEqual([[1, 2]])
  })

  test('begins at once for a load that has one and asks for any of its entries', async () => {
    for (const ask of [[2], [1, 2], [2, 1, 2]]) {
      const { process, clock } = world()
      const cache = await process({ limit: { concurrency: 1, queue: '5s' } })
      const gate = controlled<undefined>()
      const batches: number[][] = []
      const item = cache.define({
        name: 'n',
        load: async (id: number) => id,
        loadMany: async (ids) => (batches.push([...ids]), [...ids]),
      })
      const list = cache.define({
        name: 'list',
        load: async () => {
          await gate.load()
          return item.getMany(ask)
        },
      })
      const parent = watched(list.get())
      await clock.advance(10)
      const queued = watched(item.getMany([1, 2, 3]))
      await clock.advance(10)
      expect(cache.health().loads).toEqual({ running: 1, queued: 1 })
      gate.end(undefined)
      await clock.advance(10)
      expect(parent.value).toEqual(ask)
      expect(queued.value).toEqual([1, 2, 3])
      expect(batches).toEqual([[1, 2, 3]])
      expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
    }
  })

  test('too long: every place is told, and the keys are free for other processes', async () => {
    const { resource, clock, cache, holder, process, batches } = await busy()
    const failed: unknown[] = []
    cache.on('loadFailed', (event) => failed.push(event))
    const other = (await process()).define({ name: 'n', load: async (id: number) => id * 10 })
    const asked = watched(resource.getManySettled([1, 2]))
    await clock.advance(10)
    const elsewhere = watched(other.getMany([1, 2]))
    await clock.advance('5s')
    expect(asked.value).toMatchObject([
      { reason: { code: 'OVERLOADED' } },
      { reason: { code: 'OVERLOADED' } },
    ])
    expect(elsewhere.value).toEqual([10, 20])
    holder.end(1)
    await clock.advance(10)
    expect({ batches, failed }).toEqual({ batches: [], failed: [] })
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })
})

describe('common loads', () => {
  test('of many batches never run more at once than there are places', async () => {
    const { process, clock } = world()
    const cache = await process({ limit: { concurrency: 2, queue: '5s' } })
    let running = 0
    let most = 0
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => id,
      loadMany: async (ids) => {
        most = Math.max(most, ++running)
        await new Promise<void>((go) => void clock.after(50, go))
        running--
        return [...ids]
      },
    })
    const calls = Array.from({ length: 7 }, (_, n) => watched(resource.getMany([n * 2, n * 2 + 1])))
    await clock.advance('1s')
    expect(calls.map(({ value }) => value)).toEqual(calls.map((_, n) => [n * 2, n * 2 + 1]))
    expect(most).toBe(2)
  })

  test('that never settle count as abandoned, once each, and keep further ones from the source', async () => {
    const { process, clock } = world()
    const cache = await process({ limit: { concurrency: 2, queue: 100 }, loadTimeout: '1s' })
    const source = controlled<number[]>()
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => id,
      loadMany: () => source.load(),
    })
    const hung = [watched(resource.getMany([1, 2, 3])), watched(resource.getMany([4, 5]))]
    await clock.advance('1.1s')
    for (const call of hung) expect(call).toMatchObject({ error: { code: 'LOAD_TIMEOUT' } })
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
    await expect(resource.getMany([6, 7])).rejects.toMatchObject({ code: 'OVERLOADED' })
    source.end([1, 2, 3])
    source.end([4, 5])
    await clock.advance(10)
    const next = watched(resource.getMany([6, 7]))
    await clock.advance(10)
    source.end([6, 7])
    await clock.advance(10)
    expect(next.value).toEqual([6, 7])
    // What came late was nobody's any more.
    expect((await resource.peek(1)).state).toBe('missing')
  })

  test.each([
    ['gives its values', async () => [1, 2]],
    ['gives too few', async () => [1]],
    ['throws', () => Promise.reject(new Error('down'))],
    [
      'throws at once',
      () => {
        throw new Error('down')
      },
    ],
    ['gives a value that cannot be stored', async () => [() => {}, 2]],
  ])('one that %s has given its place back by then', async (_, loadMany) => {
    const { process } = world()
    const cache = await process({ limit: { concurrency: 1, queue: 0 } })
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => id,
      loadMany: loadMany as never,
    })
    for (let n = 0; n < 3; n++) {
      await resource.getManySettled([1, 2])
      expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
      await cache.clear()
    }
  })
})
