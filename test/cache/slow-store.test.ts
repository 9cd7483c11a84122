import { expect, it } from 'vitest'
import { watched } from '../support/watched.ts'
import { world } from '../support/two-processes.ts'

it('T025 the deadline of the store holds for the first call too, with a stale value in memory', async () => {
  const { clock, faulty } = world()
  const { cache, link } = await faulty({ ttl: '1s', staleIfError: '1h', storeTimeout: 100 })
  let runs = 0
  const item = cache.define({ name: 'item', load: async (_id: string) => ++runs })
  const first = item.get('k')
  await clock.advance(10)
  expect(await first).toBe(1)
  await clock.advance('2s')
  link.hang()
  const call = watched(item.get('k'))
  await clock.advance(120)
  expect(call).toMatchObject({ state: 'resolved', value: 2 })
  const next = watched(item.get('other'))
  await clock.advance(1)
  expect(next.state).toBe('resolved')
})

it('T057 a peek at what is not there leaves nothing behind, and the next read loads', async () => {
  const { clock, process } = world()
  const cache = await process()
  const item = cache.define({ name: 'item', load: async (id: string) => `loaded ${id}` })
  expect(await item.peek('k')).toEqual({ state: 'missing' })
  const call = item.getMany(['k', 'l'])
  await clock.advance(10)
  expect(await call).toEqual(['loaded k', 'loaded l'])
})

it('T124 getMany answers in the order of its arguments, duplicates at each position', async () => {
  const { clock, process } = world()
  const cache = await process()
  const item = cache.define({ name: 'item', load: async (n: number) => (n === 2 ? undefined : n) })
  const call = item.getMany([3, 2, 1, 3, 2])
  await clock.advance(10)
  expect(await call).toEqual([3, undefined, 1, 3, undefined])
  expect(await item.getMany([])).toEqual([])
})

it('a peek that an invalidation overtakes while the store does not answer finds nothing', async () => {
  const { clock, faulty } = world()
  const { cache, link } = await faulty({ ttl: '1s', staleIfError: '1h', storeTimeout: 100 })
  const item = cache.define({ name: 'item', load: async (_id: string) => 'old' })
  const first = item.get('k')
  await clock.advance(10)
  expect(await first).toBe('old')
  await clock.advance('2s')
  link.hang()
  const peeked = watched(item.peek('k'))
  await clock.advance(10)
  item.invalidate('k').catch(() => {})
  await clock.advance(200)
  expect(peeked.value).toEqual({ state: 'missing' })
})
