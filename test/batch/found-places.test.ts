// A batch and the limiter: its place is real, is waited for as a single load waits for its own, and
// comes back whatever happens.

import { describe, expect, test } from 'vitest'
import type { CacheOptions } from '../../src/index.ts'
import type { Store, StorePort } from '../../src/ports.ts'
import { spyStore } from '../support/spy-store.ts'
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
  const aborted: boolean[] = []
  const resource = cache.define({
    name: 'n',
    load: async (id: number) => id,
    loadMany: async (ids, ctx) => {
      batches.push([...ids])
      aborted.push(ctx.signal.aborted)
      return [...ids]
    },
  })
  return { cache, clock, process, holder, batches, aborted, resource }
}

describe('a batch that waits for its place', () => {
  test('leaves the queue when the last of its callers has left, and nothing is loaded', async () => {
    const { resource, clock, cache, batches, holder } = await busy()
    const controller = new AbortController()
    const asked = watched(resource.getMany([1, 2], { signal: controller.signal }))
    await clock.advance(10)
    controller.abort(new Error('left'))
    await clock.advance(10)
    expect(asked).toMatchObject({ state: 'rejected', error: { message: 'left' } })
    expect(cache.health().loads).toEqual({ running: 1, queued: 0 })
    holder.end(1)
    await clock.advance(10)
    expect(batches).toEqual([])
  })

  test('and is begun for nobody never keeps a place for good', async () => {
    const { clock, cache, holder } = await busy()
    const resource = cache.define({
      name: 'hangs',
      load: async (id: number) => id,
      loadMany: () => new Promise<number[]>(() => {}),
    })
    const controller = new AbortController()
    const asked = watched(resource.getMany([1, 2], { signal: controller.signal }))
    await clock.advance(10)
    controller.abort(new Error('left'))
    await clock.advance(10)
    holder.end(1)
    await clock.advance('60s')
    expect(asked.state).toBe('rejected')
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  test('loads nothing after the cache was closed', async () => {
    const { resource, clock, cache, batches, holder } = await busy({
      limit: { concurrency: 1, queue: '60s' },
    })
    const asked = watched(resource.getManySettled([1, 2]))
    await clock.advance(10)
    const closing = watched(cache.close({ timeout: 0 }))
    await clock.advance('1s')
    expect(closing.state).toBe('resolved')
    expect(asked.value).toMatchObject([
      { reason: { code: 'CLOSED' } },
      { reason: { code: 'CLOSED' } },
    ])
    holder.end(1)
    await clock.advance('10s')
    expect(batches).toEqual([])
  })

  test('has its loadTimeout from when it begins, as a single load has', async () => {
    const { resource, clock, holder, aborted } = await busy({ loadTimeout: '1s' })
    const asked = watched(resource.getManySettled([1, 2]))
    const single = watched(resource.get(3))
    await clock.advance('2s')
    holder.end(1)
    await clock.advance(10)
    expect(single.value).toBe(3)
    expect(asked.value).toEqual([1, 2].map((value) => ({ status: 'fulfilled', value })))
    expect(aborted).toEqual([false])
  })

  test('has loaded nothing yet: an invalidation meanwhile costs no second load', async () => {
    const { resource, clock, holder, process, batches } = await busy()
    const other = (await process()).define({
      name: 'n',
      load: async (id: number) => {
        batches.push([id])
        await new Promise<void>((go) => void clock.after(100, go))
        return id
      },
    })
    const asked = watched(resource.getMany([1, 2]))
    await clock.advance(10)
    await other.invalidate(1)
    const elsewhere = watched(other.get(1))
    await clock.advance(10)
    holder.end(1)
    await clock.advance('1s')
    expect(asked.value).toEqual([1, 2])
    expect(elsewhere.value).toBe(1)
    expect(batches.flat().toSorted((a, b) => a - b)).toEqual([1, 2])
  })
})

describe('entries that fall out of a batch', () => {
  test('since they were changed meanwhile, are loaded within the limit', async () => {
    const { process, clock, store } = world()
    const spy = spyStore(store)
    const cache = await process({ store: spy.store, limit: { concurrency: 1, queue: '5s' } })
    let running = 0
    let most = 0
    const load = async () => {
      most = Math.max(most, ++running)
      await new Promise<void>((go) => void clock.after(20, go))
      running--
    }
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => (await load(), id),
      loadMany: async (ids) => (await load(), [...ids]),
    })
    const ids = [1, 2, 3, 4, 5]
    spy.holdAnswers('acquire')
    const asked = watched(resource.getMany(ids))
    await clock.advance(0)
    await resource.invalidateMany(ids)
    spy.letGo()
    await clock.advance('1s')
    expect(asked.value).toEqual(ids)
    expect(most).toBe(1)
  })

  test('since the store refuses leases, do not: they are loaded in the one call', async () => {
    const { process, clock, store } = world()
    const spy = refusing(store)
    const cache = await process({ store: spy })
    const batches: number[][] = []
    const singles: number[] = []
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => (singles.push(id), id),
      loadMany: async (ids) => (batches.push([...ids]), [...ids]),
    })
    const asked = watched(resource.getMany([1, 2, 3]))
    await clock.advance(100)
    expect(asked.value).toEqual([1, 2, 3])
    expect(cache.counters()['n']).toMatchObject({ unleasedNolease: 3 })
    expect({ batches, singles }).toEqual({ batches: [[1, 2, 3]], singles: [] })
  })
})

/** As a server out of memory: reads are answered, leases are not given. */
function refusing(inner: Store): Store {
  const store: StorePort = {
    ...(inner as StorePort),
    open(scope) {
      const session = (inner as StorePort).open(scope)
      return new Proxy(session, {
        get: (target, name) => {
          if (name === 'acquire') return async () => ({ type: 'nolease', why: 'OOM' })
          const member: unknown = Reflect.get(target, name, target)
          return typeof member === 'function' ? member.bind(target) : member
        },
      })
    },
  }
  return store
}
