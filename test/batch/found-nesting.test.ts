// In whose context a common load runs, and which of its entries its loader may not ask for.

import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/index.ts'
import { heldStore } from '../support/held-store.ts'
import { world } from '../support/two-processes.ts'
import { alone, watched } from '../support/watched.ts'

describe('the async context of a common load', () => {
  const request = new AsyncLocalStorage<string>()

  test.each([
    [1, 2],
    [2, 1],
  ])('is the call’s where something is missing, though %d or %d is only stale', async (...ids) => {
    const { cache, clock } = alone({ staleWhileRevalidate: '1h' })
    const seen: unknown[] = []
    const resource = cache.define({
      name: 'n',
      load: (id: number): number => id,
      loadMany: (all) => {
        seen.push([all.length, request.getStore()])
        return [...all]
      },
    })
    await resource.get(1)
    await clock.advance('15s')
    await request.run('call', () => resource.getMany(ids))
    await clock.advance(10)
    expect(seen).toEqual([[2, 'call']])
  })

  test('is the cache’s where all are only refreshed, whatever is decided last', async () => {
    const { process, clock, store } = world()
    const held = heldStore(store)
    const cache = await process({ staleWhileRevalidate: '1h', store: held })
    const seen: unknown[] = []
    const define = (of: typeof cache) =>
      of.define({
        name: 'n',
        load: (id: number): number => id,
        loadMany: (ids) => {
          seen.push([[...ids], request.getStore()])
          return [...ids]
        },
      })
    const resource = define(cache)
    await resource.get(1)
    await clock.advance('61s')
    await define(await process()).get(2)
    await clock.advance(10)
    held.holdReplies('readMany')
    const asked = request.run('call', () => resource.getMany([1, 2]))
    await clock.advance(10)
    held.releaseReplies('readMany')
    expect(await asked).toEqual([1, 2])
    await clock.advance(10)
    expect(seen).toEqual([[[1], undefined]])
  })
})

describe('a loader that asks for one of its own entries', () => {
  test.each<[string, (of: Resource<number, number>, id: number) => Promise<number>]>([
    ['by get with maxAge 0', (of, id) => of.get(id, { maxAge: 0 })],
    ['by getMany with maxAge 0', async (of, id) => (await of.getMany([id], { maxAge: 0 }))[0]!],
    ['by refresh', (of, id) => of.refresh(id)],
  ])('%s is told so at once, whichever of them it is', async (_, ask) => {
    for (const id of [1, 2, 3]) {
      const { process, clock } = world()
      const cache = await process()
      const resource: Resource<number, number> = cache.define({
        name: 'n',
        load: async (one: number): Promise<number> => one,
        loadMany: async (ids): Promise<number[]> => {
          await new Promise<void>((go) => void clock.after(5, go))
          await ask(resource, id)
          return [...ids]
        },
      })
      const asked = watched(resource.getMany([1, 2, 3]))
      await clock.advance(20)
      expect(asked).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
    }
  })
})
