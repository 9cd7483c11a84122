// The caller whose entry leads a common load leaves it: its loader goes on for the others as a load.

import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

const left = new Error('left')

/** A common load of three entries, whose first is wanted by one who leaves before its loader goes on. */
async function leaderless(
  inLoader: (item: Resource<number, number>, child: Resource<number, number>) => Promise<unknown>,
) {
  const { process, clock } = world()
  const cache = await process({ limit: { concurrency: 1, queue: '5s' } })
  const child = cache.define({ name: 'child', load: async (id: number): Promise<number> => id })
  const item: Resource<number, number> = cache.define({
    name: 'n',
    load: async (id: number): Promise<number> => id,
    loadMany: async (ids): Promise<number[]> => {
      await new Promise<void>((go) => void clock.after(100, go))
      await inLoader(item, child)
      return [...ids]
    },
  })
  const controller = new AbortController()
  const first = watched(item.getMany([1, 2, 3], { signal: controller.signal }))
  await clock.advance(10)
  const others = watched(item.getManySettled([2, 3]))
  await clock.advance(10)
  controller.abort(left)
  await clock.advance(10)
  expect(first).toMatchObject({ state: 'rejected', error: left })
  await clock.advance(200)
  return { cache, others, clock }
}

describe('a common load whose first entry is wanted no longer', () => {
  test('has its place still, and loads inside of it ride on that', async () => {
    const { cache, others } = await leaderless((_, child) => child.getMany([7, 8]))
    expect(others.value).toEqual([2, 3].map((value) => ({ status: 'fulfilled', value })))
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  test.each<[string, (of: Resource<number, number>) => Promise<unknown>]>([
    ['get', (item) => item.get(2)],
    ['get with maxAge', (item) => item.get(3, { maxAge: 0 })],
    ['getMany', (item) => item.getMany([3, 2])],
    ['refresh', (item) => item.refresh(2)],
  ])('is told of its cycle at once, by %s', async (_, ask) => {
    const { others } = await leaderless(ask)
    expect(others.value).toMatchObject([
      { reason: { code: 'CYCLE' } },
      { reason: { code: 'CYCLE' } },
    ])
  })
})
