// What one caller of a batch wants for itself (its signal, its patience, its idea of old), and the
// end of the cache in the middle: nobody else gets anything else for it.

import { describe, expect, test } from 'vitest'
import type { BatchContext } from '../../src/index.ts'
import { heldStore } from '../support/held-store.ts'
import { controlled, world } from '../support/two-processes.ts'
import { watched } from '../support/watched.ts'

const ascending = (a: number, b: number): number => a - b

/** A resource whose common loads end when they are told, on a store whose answers can be held. */
async function slow(options = {}) {
  const { process, clock, store } = world()
  const held = heldStore(store)
  const cache = await process({ store: held, storeTimeout: '1s', ...options })
  const source = controlled<undefined>()
  const batches: number[][] = []
  const singles: number[] = []
  const contexts: BatchContext<number>[] = []
  const resource = cache.define({
    name: 'n',
    load: async (id: number) => {
      singles.push(id)
      return `single ${id}`
    },
    loadMany: async (ids, ctx) => {
      batches.push([...ids])
      contexts.push(ctx)
      await source.load()
      return ids.map((id) => `row ${id}`)
    },
  })
  return { cache, clock, process, held, source, batches, singles, contexts, resource }
}

const left = new Error('left')

describe('a signal', () => {
  test('that is aborted already rejects every place and loads nothing', async () => {
    const { resource, batches } = await slow()
    const call = { signal: AbortSignal.abort(left) }
    await expect(resource.getMany([1, 2], call)).rejects.toBe(left)
    expect(await resource.getManySettled([1, 2], call)).toEqual([
      { status: 'rejected', reason: left },
      { status: 'rejected', reason: left },
    ])
    expect(batches).toEqual([])
  })

  test.each(['read', 'acquire'] as const)(
    'aborted while the store is asked (%s) takes along no key that somebody else wants too',
    async (operation) => {
      const { resource, held, clock, batches, singles, source } = await slow()
      held.holdReplies(operation)
      const controller = new AbortController()
      const asked = watched(resource.getMany([1, 2], { signal: controller.signal }))
      const other = watched(resource.getMany([2, 3]))
      const single = watched(resource.get(2))
      await clock.advance(5)
      controller.abort(left)
      await clock.advance(5)
      expect(asked).toMatchObject({ state: 'rejected', error: left })
      held.releaseReplies(operation)
      await clock.advance(5)
      source.end(undefined)
      await clock.advance(5)
      if (batches.length > 1) source.end(undefined)
      await clock.advance(5)
      const loaded = [...batches.flat(), ...singles].toSorted(ascending)
      expect(loaded).toEqual([2, 3])
      expect(other.state).toBe('resolved')
      expect(other.value!.map((text) => text.at(-1))).toEqual(['2', '3'])
      expect(single.value).toBe(other.value![0])
    },
  )

  test('aborted during the load leaves it to those who are still there, all of it', async () => {
    const { resource, clock, source, contexts, batches } = await slow()
    const controller = new AbortController()
    const asked = watched(resource.getManySettled([1, 2], { signal: controller.signal }))
    const other = watched(resource.getMany([2, 1]))
    await clock.advance(5)
    controller.abort(left)
    await clock.advance(5)
    expect(asked.value).toEqual([
      { status: 'rejected', reason: left },
      { status: 'rejected', reason: left },
    ])
    expect(contexts[0]!.signal.aborted).toBe(false)
    source.end(undefined)
    await clock.advance(5)
    expect(other.value).toEqual(['row 2', 'row 1'])
    expect(batches).toEqual([[1, 2]])
  })

  test('of the last one aborts the load, with the keys free for the next', async () => {
    const { resource, clock, source, contexts, cache } = await slow()
    const controllers = [new AbortController(), new AbortController()]
    const asked = controllers.map(({ signal }) => watched(resource.getMany([1, 2], { signal })))
    await clock.advance(5)
    for (const controller of controllers) controller.abort(left)
    await clock.advance(5)
    expect(asked.map(({ state }) => state)).toEqual(['rejected', 'rejected'])
    expect(contexts[0]!.signal.aborted).toBe(true)
    expect(contexts[0]!.signal.reason).toMatchObject({ name: 'AbortError' })
    const next = watched(resource.getMany([1, 2]))
    await clock.advance(5)
    source.end(undefined)
    source.end(undefined)
    await clock.advance(5)
    expect(next.value).toEqual(['row 1', 'row 2'])
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })
})

describe('a timeout', () => {
  test('gives up its own places, and the load goes on', async () => {
    const { resource, clock, source, batches } = await slow()
    const hasty = watched(resource.getManySettled([1, 2], { timeout: 20 }))
    await clock.advance(50)
    expect(hasty.value).toMatchObject([
      { reason: { code: 'WAIT_TIMEOUT', key: resource.key(1) } },
      { reason: { code: 'WAIT_TIMEOUT', key: resource.key(2) } },
    ])
    const patient = watched(resource.getMany([2, 1]))
    await clock.advance(5)
    source.end(undefined)
    await clock.advance(5)
    expect(patient.value).toEqual(['row 2', 'row 1'])
    expect(batches).toHaveLength(1)
  })

  test('gives stale values where there are any, at their places', async () => {
    const { resource, clock, source } = await slow({ staleIfError: '1h' })
    const first = resource.getMany([1, 3])
    await clock.advance(5)
    source.end(undefined)
    await first
    await clock.advance('61s')
    const asked = watched(resource.getManySettled([1, 2, 3], { timeout: 20 }))
    await clock.advance(50)
    expect(asked.value).toMatchObject([
      { value: 'row 1' },
      { reason: { code: 'WAIT_TIMEOUT' } },
      { value: 'row 3' },
    ])
  })

  test('of 0 gives what is there at once, and begins the rest', async () => {
    const { resource, clock, source } = await slow()
    const first = resource.getMany([1])
    await clock.advance(5)
    source.end(undefined)
    await first
    const asked = watched(resource.getManySettled([1, 2], { timeout: 0 }))
    await clock.advance(5)
    expect(asked.value).toMatchObject([{ value: 'row 1' }, { reason: { code: 'WAIT_TIMEOUT' } }])
  })
})

describe('maxAge', () => {
  test('loads what is older in one call, and serves the rest', async () => {
    const { resource, clock, source, batches } = await slow()
    const fill = async (ids: number[]) => {
      const filled = resource.getMany(ids)
      await clock.advance(5)
      source.end(undefined)
      await filled
    }
    await fill([1, 3])
    await clock.advance('10s')
    await fill([2])
    const asked = watched(resource.getMany([1, 2, 3, 1], { maxAge: '5s' }))
    await clock.advance(5)
    source.end(undefined)
    await clock.advance(5)
    expect(asked.value).toEqual([1, 2, 3, 1].map((id) => `row ${id}`))
    expect(batches).toEqual([[1, 3], [2], [1, 3]])
  })

  test('never takes what a common load gives that began before it would allow', async () => {
    const { resource, clock, source, batches } = await slow()
    const first = watched(resource.getMany([1, 2]))
    await clock.advance(100)
    const fresh = watched(resource.getMany([1, 2], { maxAge: 50 }))
    await clock.advance(5)
    expect(fresh.state).toBe('pending')
    source.end(undefined)
    await clock.advance(5)
    expect(first.value).toEqual(['row 1', 'row 2'])
    expect(fresh.value).toEqual(['single 1', 'single 2'])
    expect(batches).toEqual([[1, 2]])
  })
})

describe('the end of the cache', () => {
  test.each(['read', 'acquire', 'publish'] as const)(
    'while the store is asked (%s): every place is told, or has its value',
    async (operation) => {
      const { resource, held, clock, source, cache } = await slow()
      held.holdReplies(operation)
      held.holdReplies('readMany')
      const asked = watched(resource.getManySettled([1, 2, 3]))
      await clock.advance(5)
      if (operation === 'publish') {
        held.releaseReplies('readMany')
        await clock.advance(5)
        source.end(undefined)
        await clock.advance(5)
      }
      const closing = watched(cache.close({ timeout: 0 }))
      await clock.advance('5s')
      expect(closing.state).toBe('resolved')
      expect(asked.state).toBe('resolved')
      for (const [n, each] of asked.value!.entries()) {
        if (each.status === 'fulfilled') expect(each.value).toBe(`row ${n + 1}`)
        else expect(each.reason).toMatchObject({ code: 'CLOSED' })
      }
      held.releaseReplies(operation)
      held.releaseReplies('readMany')
      await clock.advance('5s')
    },
  )

  test('drains a common load that is under way', async () => {
    const { resource, clock, source, cache } = await slow()
    const asked = watched(resource.getMany([1, 2]))
    await clock.advance(5)
    const closing = watched(cache.close({ timeout: '10s' }))
    await clock.advance('1s')
    expect(closing.state).toBe('pending')
    const late = watched(resource.getManySettled([1, 3]))
    source.end(undefined)
    await clock.advance('1s')
    expect(closing.state).toBe('resolved')
    expect(asked.value).toEqual(['row 1', 'row 2'])
    expect(late.value).toMatchObject([
      { reason: { code: 'CLOSED' } },
      { reason: { code: 'CLOSED' } },
    ])
  })

  test('that waits no longer aborts the load and frees its keys for other processes', async () => {
    const { resource, clock, contexts, cache, process } = await slow()
    const other = (await process()).define({ name: 'n', load: async (id: number) => `other ${id}` })
    const asked = watched(resource.getManySettled([1, 2]))
    await clock.advance(5)
    const elsewhere = watched(other.getMany([1, 2]))
    await clock.advance(5)
    const closing = watched(cache.close({ timeout: 0 }))
    await clock.advance(500)
    expect(closing.state).toBe('resolved')
    expect(contexts[0]!.signal.aborted).toBe(true)
    expect(asked.value).toMatchObject([
      { reason: { code: 'CLOSED' } },
      { reason: { code: 'CLOSED' } },
    ])
    expect(elsewhere.value).toEqual(['other 1', 'other 2'])
  })
})
