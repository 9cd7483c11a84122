// The store fails, hangs or answers in part while a batch is under way: each place has its value
// from wherever it can be had, in time, and the rest of the batch does not notice.

import { describe, expect, test } from 'vitest'
import { port, type Store, type StorePort, type StoreSession } from '../../src/ports.ts'
import { controlled, world } from '../support/two-processes.ts'
import { spyStore } from '../support/spy-store.ts'
import { watched } from '../support/watched.ts'

const ascending = (a: number, b: number): number => a - b

async function faulty(options = {}) {
  const { faulty: open, process, clock } = world()
  const { cache, link } = await open({ storeTimeout: 100, ...options })
  const source = controlled<undefined>()
  const batches: number[][] = []
  const define = (of: typeof cache, isSlow: boolean) =>
    of.define({
      name: 'n',
      load: async (id: number) => `single ${id}`,
      loadMany: async (ids) => {
        batches.push([...ids])
        if (isSlow) await source.load()
        return ids.map((id) => `row ${id}`)
      },
    })
  const other = define(await process(), false)
  return { cache, link, clock, source, batches, resource: define(cache, true), other }
}

const rows = (...ids: number[]): string[] => ids.map((id) => `row ${id}`)

describe.each(['fail', 'hang'] as const)('a store that is told to %s', (fault) => {
  test('before the batch: one common load without it, kept for as long as the outage', async () => {
    const { link, clock, source, batches, resource, other } = await faulty()
    link[fault]()
    const asked = watched(resource.getMany([1, 2, 3]))
    await clock.advance(250)
    expect(batches).toEqual([[1, 2, 3]])
    source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual(rows(1, 2, 3))
    const again = watched(resource.getMany([3, 1]))
    await clock.advance(10)
    expect(again.value).toEqual(rows(3, 1))
    expect(batches).toHaveLength(1)
    link.heal()
    await clock.advance('10s')
    expect(await other.getMany([1, 2, 3])).toEqual(rows(1, 2, 3))
  })

  test('between the look and the leases: the same', async () => {
    const { link, clock, source, batches, resource } = await faulty()
    link.delay(10)
    const asked = watched(resource.getMany([1, 2, 3]))
    await clock.advance(15)
    link[fault]()
    await clock.advance(300)
    expect(batches.map((ids) => ids.toSorted(ascending))).toEqual([[1, 2, 3]])
    source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual(rows(1, 2, 3))
  })

  test('during the load: every place is answered, and another process is not misled', async () => {
    const { link, clock, source, batches, resource, other, cache } = await faulty()
    const asked = watched(resource.getMany([1, 2, 3]))
    await clock.advance(10)
    link[fault]()
    source.end(undefined)
    await clock.advance(10)
    expect(asked.value).toEqual(rows(1, 2, 3))
    await clock.advance(250)
    link.heal()
    await clock.advance('10s')
    const elsewhere = watched(other.getMany([3, 2, 1]))
    await clock.advance('5s')
    expect(elsewhere.value).toEqual(rows(3, 2, 1))
    expect(batches.length).toBeLessThanOrEqual(2)
    expect(cache.health()).toMatchObject({ status: 'ok', loads: { running: 0, queued: 0 } })
  })

  test('while others’ loads are waited for: what they had is loaded here, in time', async () => {
    const { link, clock, source, resource, other } = await faulty({ waitTimeout: '1s' })
    const busy = watched(resource.getMany([1]))
    await clock.advance(10)
    const slow = watched(other.getMany([1, 2]))
    await clock.advance(10)
    link[fault]()
    await clock.advance(10)
    source.end(undefined)
    await clock.advance('5s')
    expect(busy.value).toEqual(rows(1))
    expect(slow.value).toEqual([expect.stringContaining('1'), 'row 2'])
  })

  test('stale entries are served from memory meanwhile, and refreshed together', async () => {
    const { link, clock, source, batches, resource } = await faulty({ staleWhileRevalidate: '1h' })
    const first = watched(resource.getMany([1, 2]))
    await clock.advance(10)
    source.end(undefined)
    await clock.advance('61s')
    expect(first.value).toEqual(rows(1, 2))
    link[fault]()
    const asked = watched(resource.getMany([2, 1]))
    await clock.advance(250)
    expect(asked.value).toEqual(rows(2, 1))
    expect(batches.slice(1).map((ids) => ids.toSorted(ascending))).toEqual([[1, 2]])
    source.end(undefined)
    await clock.advance(10)
  })
})

/** Some of its answers to a question about many are errors at their place. */
function partly(inner: Store, isLost: (n: number) => boolean): Store {
  const store: StorePort = {
    ...(inner as StorePort),
    [port]: 'store',
    open(scope) {
      const session = (inner as StorePort).open(scope)
      const wrapped = Object.create(session) as Record<string, unknown>
      for (const name of ['read', 'acquire', 'publish', 'renew', 'release', 'fail'] as const) {
        wrapped[name] = (session[name] as (...given: unknown[]) => unknown).bind(session)
      }
      for (const name of ['beat', 'epochs', 'bump', 'invalidate', 'close'] as const) {
        wrapped[name] = (session[name] as (...given: unknown[]) => unknown).bind(session)
      }
      for (const name of ['isRefusal', 'isReply', 'received'] as const) {
        wrapped[name] = (session[name] as (...given: unknown[]) => unknown).bind(session)
      }
      for (const name of ['ready', 'hasBus', 'fromReplica'] as const) {
        Object.defineProperty(wrapped, name, { get: () => session[name] })
      }
      wrapped['readMany'] = async (keys: readonly string[]) => {
        const frames = await session.readMany(keys)
        return frames.map((frame, n) => (isLost(n) ? new Error('CLUSTERDOWN') : frame))
      }
      return wrapped as unknown as StoreSession
    },
  }
  return store
}

describe('a store that answers in part', () => {
  test('is asked for the rest by leases, and nothing is shifted (T102)', async () => {
    const { process, clock, store } = world()
    const define = (cache: Awaited<ReturnType<typeof process>>, who: string) => {
      const batches: number[][] = []
      const resource = cache.define({
        name: 'n',
        load: async (id: number) => `single ${id}`,
        loadMany: async (ids) => {
          batches.push([...ids])
          return ids.map((id) => `${who} ${id}`)
        },
        memory: false,
      })
      return { resource, batches }
    }
    const writer = define(await process(), 'first')
    await writer.resource.getMany([1, 2, 3, 4])
    await clock.advance(10)
    const cache = await process({ store: partly(store, (n) => n % 2 === 1) })
    const failed: unknown[] = []
    cache.on('storeFailed', ({ operation, error }) => failed.push([operation, String(error)]))
    const reader = define(cache, 'second')
    const asked = watched(reader.resource.getMany([1, 2, 3, 4]))
    await clock.advance(100)
    expect(asked.value).toEqual(['first 1', 'second 2', 'first 3', 'second 4'])
    expect(reader.batches).toEqual([[2, 4]])
    expect(failed).toEqual([
      ['read', 'Error: CLUSTERDOWN'],
      ['read', 'Error: CLUSTERDOWN'],
    ])
  })

  test('with one lease refused: that one is loaded with the others, and each is answered', async () => {
    const { process, clock, store } = world()
    const spy = spyStore(store)
    const cache = await process({ store: spy.store })
    const batches: number[][] = []
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => `single ${id}`,
      loadMany: async (ids) => {
        batches.push([...ids])
        return ids.map((id) => `row ${id}`)
      },
    })
    spy.failNext('acquire')
    const asked = watched(resource.getMany([1, 2, 3]))
    await clock.advance(200)
    expect(asked.value).toEqual(rows(1, 2, 3))
    expect(batches.flat().toSorted(ascending)).toEqual([1, 2, 3])
  })

  test('with one publish lost: that one is kept for a short while, the others for their time', async () => {
    const { process, clock, store } = world()
    const spy = spyStore(store)
    const cache = await process({ store: spy.store, outageTtl: '5s' })
    const batches: number[][] = []
    const resource = cache.define({
      name: 'n',
      load: async (id: number) => `single ${id}`,
      loadMany: async (ids) => {
        batches.push([...ids])
        return ids.map((id) => `row ${id}`)
      },
    })
    spy.failNext('publish')
    expect(await resource.getMany([1, 2, 3])).toEqual(rows(1, 2, 3))
    await clock.advance('20s')
    const asked = watched(resource.getMany([1, 2, 3]))
    await clock.advance('5s')
    expect(asked.value).toEqual(rows(1, 2, 3))
    expect(batches).toEqual([[1, 2, 3], [1]])
  })
})
