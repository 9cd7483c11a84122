// What loadMany gives, where it is not what it seems.

import vm from 'node:vm'
import { expect, test } from 'vitest'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

async function rows(loadMany: (ids: readonly number[]) => unknown, options = {}) {
  const { process, clock } = world()
  const cache = await process(options)
  const resource = cache.define({
    name: 'n',
    load: async (id: number): Promise<string | null> => `single ${id}`,
    loadMany: loadMany as never,
  })
  return { cache, clock, resource }
}

test('an Error of another realm (a vm, a test runner’s) is that entry’s failure, and no value', async () => {
  const Foreign = vm.runInNewContext('RangeError') as RangeErrorConstructor
  const { resource } = await rows((ids) =>
    ids.map((id) => (id === 2 ? new Foreign('no 2') : `row ${id}`)),
  )
  expect(await resource.getManySettled([1, 2])).toMatchObject([
    { status: 'fulfilled', value: 'row 1' },
    { status: 'rejected', reason: { message: 'no 2' } },
  ])
  expect((await resource.peek(2)).state).toBe('missing')
})

test('a Map of another realm is a Map', async () => {
  const Foreign = vm.runInNewContext('Map') as MapConstructor
  const { resource } = await rows((ids) => new Foreign(ids.map((id) => [id, `row ${id}`])))
  expect(await resource.getMany([1, 2])).toEqual(['row 1', 'row 2'])
})

test('a loadMany that sorts its list in place puts no row under another’s key', async () => {
  const { resource } = await rows((ids) =>
    (ids as number[]).sort((a, b) => a - b).map((id) => `row ${id}`),
  )
  const settled = await resource.getManySettled([3, 1, 2])
  const values = settled.map((each) => ('value' in each ? each.value : undefined))
  // Right, or refused; never another's.
  for (const [n, id] of [3, 1, 2].entries()) expect([undefined, `row ${id}`]).toContain(values[n])
})

test('a list of promises keeps its place until they have settled', async () => {
  const source = controlled<string>()
  const { resource, cache, clock } = await rows((ids) => ids.map(() => source.load()), {
    limit: { concurrency: 1, queue: '5s' },
  })
  const asked = watched(resource.getMany([1, 2]))
  await clock.advance(10)
  expect(cache.health().loads.running).toBe(1)
  source.end('row 1')
  source.end('row 2')
  await clock.advance(10)
  expect(asked.value).toEqual(['row 1', 'row 2'])
  expect(cache.health().loads.running).toBe(0)
})

test('an OVERLOADED names the key of its own place', async () => {
  const { resource, cache, clock } = await rows((ids) => ids.map((id) => `row ${id}`), {
    limit: { concurrency: 1, queue: 0 },
  })
  void cache.getOrLoad('busy', () => new Promise(() => {})).catch(() => {})
  await clock.advance(10)
  expect(await resource.getManySettled([1, 2])).toMatchObject([
    { reason: { code: 'OVERLOADED', key: resource.key(1) } },
    { reason: { code: 'OVERLOADED', key: resource.key(2) } },
  ])
})
