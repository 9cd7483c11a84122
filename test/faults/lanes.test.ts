// T102, in virtual time: a store of several servers, one of which is lost.

import { describe, expect, test } from 'vitest'
import { createCache, type CacheEvents, type CacheOptions } from '../../src/index.ts'
import type { StorePort } from '../../src/ports.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { openSession } from '../support/open-session.ts'
import { shardedStore, type ShardedStore } from '../support/sharded-store.ts'
import { watched } from '../support/watched.ts'

const storeTimeout = 100

function setUp() {
  const clock = manualClock()
  const inner = memoryStore()
  const process = async (
    options: Partial<CacheOptions> = {},
    store: ShardedStore = shardedStore(inner, ['a', 'b', 't']),
  ) => {
    const cache = createCache({
      namespace: 'test', ttl: '10m', clock, store, storeTimeout, memory: false, ...options,
    }) // prettier-ignore
    const breakers: CacheEvents['breaker'][] = []
    cache.on('breaker', (event) => breakers.push(event))
    const loads: string[] = []
    const load = (key: string): string => {
      loads.push(key)
      return `${key} ${loads.length}`
    }
    const items = cache.define({ name: 'item', load })
    await clock.advance(10)
    /** Loads of a read that is given this long. */
    const loadsOf = async (ms: number, ...keys: string[]): Promise<string[]> => {
      loads.length = 0
      const got = keys.map((key) => watched(items.get(key)))
      await clock.advance(ms)
      expect(got.map(({ state }) => state)).toEqual(keys.map(() => 'resolved'))
      return loads.toSorted()
    }
    return { cache, store, items, breakers, loads, loadsOf }
  }
  return { clock, inner, process }
}

async function filled() {
  const world = setUp()
  const mine = await world.process()
  await mine.items.getMany(['a1', 'a2', 'b1', 'b2'])
  await world.clock.advance(10)
  return { ...world, ...mine }
}

/** Reads are answered with these bytes, once there are any. */
function answeringOld(inner: ShardedStore) {
  const old: { bytes?: Uint8Array | undefined } = {}
  const store: StorePort & ShardedStore = {
    ...(inner as StorePort & ShardedStore),
    open(scope) {
      const session = (inner as StorePort & ShardedStore).open(scope)
      const { read } = session
      session.read = async (key) => {
        const bytes = await read(key)
        return old.bytes ?? bytes
      }
      return session
    },
  }
  return { store, old }
}

describe('T102 one server of a store is lost', () => {
  test('reads of one turn: those of the others wait for nobody, its own for one deadline, then for nothing', async () => {
    const { store, clock, items, loads, loadsOf, breakers } = await filled()
    loads.length = 0
    store.freeze('a')
    const got = ['a1', 'b1', 'a2', 'b2'].map((key) => watched(items.get(key)))
    await clock.advance(5)
    expect(got.map(({ state }) => state)).toEqual(['pending', 'resolved', 'pending', 'resolved'])
    await clock.advance(storeTimeout)
    expect(got.map(({ state }) => state)).toEqual(got.map(() => 'resolved'))
    expect(loads.toSorted()).toEqual(['a1', 'a2'])
    expect(breakers).toEqual([{ state: 'open', server: 'a' }])
    expect(await loadsOf(5, 'a1', 'b1', 'a2', 'b2')).toEqual(['a1', 'a2'])
  })

  test('a batch: whoever asks for one of its hits meanwhile is not held up', async () => {
    const { store, clock, items, loads } = await filled()
    loads.length = 0
    store.freeze('a')
    const batch = watched(items.getMany(['a1', 'b1', 'a2', 'b2']))
    const joined = watched(items.get('b1'))
    await clock.advance(5)
    expect(joined.state).toBe('resolved')
    expect(batch.state).toBe('pending')
    await clock.advance(storeTimeout)
    expect(batch.state).toBe('resolved')
    expect(loads).toEqual(['a1', 'a2'])
    const again = watched(items.getMany(['a1', 'b1', 'a2', 'b2']))
    await clock.advance(5)
    expect(again.state).toBe('resolved')
  })

  test('health() calls the store up while any server is, and degraded', async () => {
    const { store, clock, cache, loadsOf } = await filled()
    store.freeze('a')
    await loadsOf(200, 'a1', 'b1')
    expect(cache.health()).toMatchObject({ status: 'degraded', store: 'up', bus: 'up' })
    store.freeze('b')
    store.freeze('t')
    await loadsOf(200, 'a1', 'b1')
    const change = watched(cache.invalidateTags('any'))
    await clock.advance(200)
    expect(change.error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(cache.health()).toMatchObject({ status: 'degraded', store: 'down' })
  })

  test('the tags’: hits of the others go on, as long as this process hears', async () => {
    const { store, clock, loadsOf, cache } = await filled()
    store.freeze('t')
    for (let second = 0; second < 20; second++) {
      expect(await loadsOf(5, 'a1', 'b1')).toEqual([])
      await clock.advance('1s')
    }
    const change = watched(cache.invalidateTags('any'))
    await clock.advance(200)
    expect(change.error).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    store.thaw('t')
    await clock.advance('5s')
    expect(cache.health().status).toBe('ok')
  })

  test('an invalidation of many: the others take theirs, its own wait and are repeated', async () => {
    const { store, clock, items, process } = await filled()
    const other = await process({}, store)
    store.freeze('a')
    const change = watched(items.invalidateMany(['a1', 'b1']))
    await clock.advance(5)
    expect(await other.loadsOf(5, 'b1')).toEqual(['b1'])
    await clock.advance(storeTimeout)
    expect(change.error).toMatchObject({ code: 'STORE_UNAVAILABLE', key: items.key('a1') })
    store.thaw('a')
    await clock.advance('5s')
    expect(await other.loadsOf(5, 'a1', 'a2')).toEqual(['a1'])
  })

  test('a server that takes its place is told the last minute’s changes before it is believed', async () => {
    const { store, clock, items, loadsOf, cache } = await filled()
    await items.invalidate('a1')
    await loadsOf(10, 'a1')
    store.freeze('a')
    await loadsOf(200, 'a1', 'a2')
    store.move('a', 'c')
    expect(await loadsOf(5, 'a1', 'a2')).toEqual(['a1'])
    await clock.advance('5s')
    expect(await loadsOf(5, 'a1', 'a2')).toEqual(['a1'])
    await clock.advance('5s')
    expect(await loadsOf(5, 'a1', 'a2')).toEqual([])
    expect(cache.health().status).toBe('ok')
  })

  test.each([
    ['the same one', false],
    ['another one', true],
  ])(
    'one that was frozen and is %s: the last minute’s changes are repeated to another',
    async (_, isAnother) => {
      const { store, clock, items, loadsOf, cache } = await filled()
      await items.invalidate('a1')
      await loadsOf(10, 'a1')
      store.freeze('a')
      await loadsOf(200, 'a1')
      // Frozen for so long that it is asked twice, to know that it answers now.
      await clock.advance('2s')
      if (isAnother) store.replace('a')
      store.thaw('a')
      await clock.advance('5s')
      expect(cache.health().status).toBe('ok')
      expect(await loadsOf(5, 'a1', 'a2')).toEqual(isAnother ? ['a1'] : [])
    },
  )

  test('a read that another server answers than was asked, which has not heard of the last changes', async () => {
    const { inner, process, clock } = await filled()
    const { store, old } = answeringOld(shardedStore(inner, ['a', 'b', 't']))
    const { items, loads, cache } = await process({}, store)
    old.bytes = await openSession(inner, { namespace: 'test', clock }).session.read(items.key('a1'))
    await items.invalidate('a1')
    store.freeze('a')
    const late = watched(items.get('a1'))
    await clock.advance(10)
    // On its way the client finds the one that has taken over.
    store.move('a', 'c')
    store.thaw('a')
    await clock.advance(10)
    expect(late.state).toBe('resolved')
    expect(loads).toEqual(['a1'])
    old.bytes = undefined
    await clock.advance('5s')
    expect(cache.health().status).toBe('ok')
  })

  test('a process that begins without the tags’ believes nothing, and comes round', async () => {
    const { inner, process, clock } = await filled()
    const store = shardedStore(inner, ['a', 'b', 't'])
    store.freeze('t')
    const late = await process({}, store)
    expect(await late.loadsOf(200, 'a1', 'b1')).toEqual(['a1', 'b1'])
    await clock.advance('10s')
    expect(late.cache.health()).toMatchObject({ status: 'degraded', store: 'up' })
    expect(await late.loadsOf(5, 'a1', 'b1')).toEqual(['a1', 'b1'])
    store.thaw('t')
    await clock.advance('5s')
    expect(late.cache.health().status).toBe('ok')
    await late.loadsOf(5, 'a1', 'b1')
    expect(await late.loadsOf(5, 'a1', 'b1')).toEqual([])
  })

  test('what memory keeps without it is looked up when it is back', async () => {
    const { store, clock, process } = await filled()
    const { loadsOf } = await process({ memory: { maxEntries: 10 }, outageTtl: '5m' }, store)
    store.freeze('a')
    await loadsOf(200, 'a1', 'b1')
    expect(await loadsOf(5, 'a1', 'b1')).toEqual([])
    store.thaw('a')
    await clock.advance('5s')
    const asked = store.asked('a')
    expect(await loadsOf(5, 'a1', 'b1')).toEqual([])
    expect(store.asked('a')).toBe(asked + 1)
  })
})
