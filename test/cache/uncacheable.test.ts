// Results that are not stored: who gets them, and that nobody queues behind them (hit-for-miss).

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'
import { alone, runs, watched } from '../support/watched.ts'

describe('noStore', () => {
  it('T040 shares the result with who joined, and stores nothing', async () => {
    const { clock, process } = world()
    const cache = await process()
    const load = runs<string>()
    const item = cache.define({
      name: 'item',
      load: (_id: string, ctx: LoadContext) => {
        ctx.noStore()
        return load.next()
      },
    })
    const calls = Array.from({ length: 10 }, () => watched(item.get('k')))
    await clock.advance(0)
    load.all[0]!.resolve('value')
    await clock.advance(0)
    expect(calls.every(({ value }) => value === 'value')).toBe(true)
    expect(load.all).toHaveLength(1)
    expect(await item.peek('k')).toEqual({ state: 'missing' })
  })

  it('T040 processes that waited load side by side: two loads of time for any number', async () => {
    const { clock, process } = world()
    let going = 0
    let most = 0
    const calls = []
    const load = async (_id: string, ctx: LoadContext): Promise<string> => {
      ctx.noStore()
      most = Math.max(most, ++going)
      await new Promise<void>((resolve) => void clock.after(1_000, resolve))
      going--
      return 'value'
    }
    for (let n = 0; n < 5; n++) {
      const item = (await process()).define({ name: 'item', load })
      calls.push(watched(item.get('k')))
    }
    await clock.advance(2_010)
    expect(calls.every(({ value }) => value === 'value')).toBe(true)
    expect(most).toBe(4)
  })

  it('is forgotten after uncacheableFor: then leases are taken and values stored again', async () => {
    const { clock, process } = world()
    const cache = await process({ uncacheableFor: '5s' })
    let run = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string, ctx: LoadContext) => {
        if (++run === 1) ctx.noStore()
        return run
      },
    })
    await item.get('k')
    await clock.advance(0)
    expect(await item.get('k')).toBe(2)
    expect(cache.counters()['item']).toMatchObject({ leases: 1, unleasedUncacheable: 1 })
    await clock.advance('5s')
    expect(await item.get('k')).toBe(3)
    expect(await item.get('k')).toBe(3)
    expect(cache.counters()['item']).toMatchObject({ leases: 2 })
  })

  it('is forgotten with an invalidation and with a write', async () => {
    const { clock, process } = world()
    const cache = await process()
    let run = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string, ctx: LoadContext) => {
        if (++run === 1) ctx.noStore()
        return run
      },
    })
    await item.get('k')
    await clock.advance(0)
    await item.invalidate('k')
    await clock.advance(0)
    await item.get('k')
    expect(await item.get('k')).toBe(2)
    run = 0
    await item.invalidate('k')
    await item.get('k')
    await item.set('k', 77)
    await clock.advance(0)
    expect(await item.get('k')).toBe(77)
  })
})

describe('private', () => {
  it('gives the result to the call that started the load; everyone else loads for themselves', async () => {
    const { clock, process } = world()
    const load = runs<string>()
    const loader = (_id: string, ctx: LoadContext): Promise<string> => {
      ctx.private()
      return load.next()
    }
    const one = (await process()).define({ name: 'item', load: loader })
    const two = (await process()).define({ name: 'item', load: loader })
    const started = watched(one.get('k'))
    await clock.advance(10)
    const joined = [watched(one.get('k')), watched(one.get('k')), watched(two.get('k'))]
    await clock.advance(10)
    load.all[0]!.resolve('of the first')
    await clock.advance(10)
    expect(started.value).toBe('of the first')
    expect(load.all).toHaveLength(4)
    for (const [n, run] of load.all.slice(1).entries()) run.resolve(`own ${n}`)
    await clock.advance(10)
    expect(new Set(joined.map(({ value }) => value)).size).toBe(3)
    expect(joined.map(({ value }) => value)).not.toContain('of the first')
  })

  it('that fails rejects who joined with that very failure', async () => {
    const { clock, cache } = alone()
    const load = runs<string>()
    const item = cache.define({
      name: 'item',
      load: (_id: string, ctx: LoadContext) => {
        ctx.private()
        return load.next()
      },
    })
    const calls = [watched(item.get('a')), watched(item.get('a'))]
    await clock.advance(0)
    const error = new Error('no')
    load.all[0]!.reject(error)
    await clock.advance(0)
    for (const call of calls) expect(call).toEqual({ state: 'rejected', error })
    expect(load.all).toHaveLength(1)
  })

  it('goes through the limiter', async () => {
    const { clock, cache } = alone({ limit: { concurrency: 3, queue: '5s' } })
    let going = 0
    let most = 0
    const item = cache.define({
      name: 'item',
      load: async (_id: string, ctx: LoadContext) => {
        ctx.private()
        most = Math.max(most, ++going)
        await new Promise<void>((resolve) => void clock.after(100, resolve))
        going--
        return 'value'
      },
    })
    const calls = Array.from({ length: 10 }, () => watched(item.get('a')))
    await clock.advance('1s')
    expect(calls.every(({ value }) => value === 'value')).toBe(true)
    expect(most).toBe(3)
  })
})

it('setters may be taken out of ctx, and count up to the end of the load', async () => {
  const { clock, cache } = alone()
  const item = cache.define({
    name: 'item',
    load: async (_id: string, { ttl, meta, noStore }: LoadContext) => {
      ttl('1s')
      meta({ etag: 1 })
      await Promise.resolve()
      void noStore
      return 'value'
    },
  })
  await item.get('a')
  expect(await item.peek('a')).toMatchObject({ meta: { etag: 1 } })
  await clock.advance('1s')
  expect(await item.peek('a')).toEqual({ state: 'missing' })
})

it('noStore: later callers load side by side, those of one tick too', async () => {
  const { clock, cache } = alone()
  let loads = 0
  const item = cache.define({
    name: 'item',
    load: async (_: string, ctx: LoadContext) => {
      ctx.noStore()
      return ++loads
    },
  })
  expect(await item.get('k')).toBe(1)
  const calls = Promise.all(Array.from({ length: 10 }, () => item.get('k')))
  await clock.advance(10)
  expect(new Set(await calls).size).toBe(10)
  expect(loads).toBe(11)
})
