// A common load that was given up: what its loader does later is work of its own, as after a single
// load that was given up.

import { describe, expect, test } from 'vitest'
import type { Resource } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { watched, type Watched } from '../support/watched.ts'

/** Resources whose loaders ignore their deadline of a second and go on after two. */
async function late(then: (of: Resource<number, string>) => Promise<unknown>) {
  const { process, clock } = world()
  const cache = await process({ loadTimeout: '1s', limit: { concurrency: 2, queue: '5s' } })
  let runs = 0
  const afterwards: Watched<unknown>[] = []
  const run = async (of: () => Resource<number, string>) => {
    if (++runs > 1) return
    await new Promise<void>((go) => void clock.after(2_000, go))
    afterwards.push(watched(then(of())))
  }
  const single: Resource<number, string> = cache.define({
    name: 'single',
    load: async (id: number) => (await run(() => single), `row ${id}`),
  })
  const many: Resource<number, string> = cache.define({
    name: 'many',
    load: async (id: number) => (await run(() => many), `row ${id}`),
    loadMany: async (ids) => {
      await run(() => many)
      return ids.map((id) => `row ${id}`)
    },
  })
  return { cache, clock, afterwards, single, many }
}

describe.each(['single', 'many'] as const)('the loader of a %s', (kind) => {
  test('that was given up may ask for its own key: nobody loads it any more', async () => {
    const at = await late((of) => of.get(1))
    const asked = watched(at[kind].getManySettled([1, 2]))
    await at.clock.advance('1.5s')
    expect(asked.value).toContainEqual(
      expect.objectContaining({ reason: expect.objectContaining({ code: 'LOAD_TIMEOUT' }) }),
    )
    await at.clock.advance('1s')
    expect(at.afterwards).toMatchObject([{ state: 'resolved', value: 'row 1' }])
  })

  test('that was given up loads within the limit, as it has no place any more', async () => {
    const busy = controlled<string>()
    let waits: Watched<unknown> | undefined
    const at = await late(async () => {
      waits = watched(at.cache.getOrLoad('other', async () => 'other'))
    })
    const asked = watched(at[kind].getManySettled([1]))
    await at.clock.advance('1.5s')
    expect(asked.state).toBe('resolved')
    // The one place that is left beside the abandoned load's, and the other one.
    for (const key of ['a', 'b']) at.cache.getOrLoad(key, busy.load).catch(() => {})
    await at.clock.advance('600ms')
    expect(waits).toMatchObject({ state: 'pending' })
    expect(at.cache.health().loads).toEqual({ running: 2, queued: 1 })
    busy.end('a')
    await at.clock.advance(10)
    expect(waits).toMatchObject({ state: 'resolved', value: 'other' })
    busy.end('b')
    await at.clock.advance(10)
  })
})
