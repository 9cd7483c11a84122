// Found: an older load or an invalidated value comes back.

import { describe, expect, it } from 'vitest'
import type { LoadContext, Store } from '../../src/index.ts'
import type { StorePort } from '../../src/ports.ts'
import { world } from '../support/two-processes.ts'
import { alone as local, watched as settled } from '../support/watched.ts'

describe('order', () => {
  it('a load that began before a refresh() never replaces its value, without a store as well', async () => {
    const { clock, cache } = local()
    const runs: ((v: string) => void)[] = []
    const item = cache.define({
      name: 'item',
      load: (_: string) => new Promise<string>((r) => runs.push(r)),
    })
    const slow = item.get('a')
    await clock.advance(10)
    const forced = item.refresh('a')
    await clock.advance(10)
    runs[1]!('new')
    expect(await forced).toBe('new')
    await clock.advance(0)
    runs[0]!('old')
    expect(await slow).toBe('old')
    await clock.advance(0)
    expect(await item.get('a')).toBe('new')
  })

  it('a load that began before a younger one never replaces its value', async () => {
    const { clock, cache } = local()
    const runs: ((v: string) => void)[] = []
    const item = cache.define({
      name: 'item',
      load: (_: string) => new Promise<string>((r) => runs.push(r)),
    })
    const slow = item.get('a')
    await clock.advance(10)
    const forced = item.get('a', { maxAge: 0 })
    await clock.advance(10)
    runs[1]!('new')
    expect(await forced).toBe('new')
    await clock.advance(0)
    runs[0]!('old')
    expect(await slow).toBe('old')
    await clock.advance(0)
    expect(await item.get('a')).toBe('new')
  })

  it('T061 a read that an invalidation overtook is nobody’s previous, and is not renewed into the store', async () => {
    const { clock, store, process } = world()
    let gate: Promise<void> | undefined
    const inner = store as StorePort
    const slow = {
      ...inner,
      open: (scope: never) => {
        const session = inner.open(scope)
        const read = session.read.bind(session)
        const wrapped = Object.create(session)
        wrapped.read = async (key: string) => {
          const r = await read(key)
          await gate
          return r
        }
        for (const n of [
          'acquire',
          'publish',
          'touch',
          'renew',
          'release',
          'fail',
          'invalidate',
          'expire',
          'write',
          'beat',
          'close',
        ])
          wrapped[n] = (session as any)[n].bind(session)
        return wrapped
      },
    } as unknown as Store
    const one = await process({ store: slow, memory: false, staleWhileRevalidate: '1h' })
    const two = await process({ staleWhileRevalidate: '1h' })
    const previous: unknown[] = []
    const mk = (c: typeof one) =>
      c.define({
        name: 'item',
        load: async (_: string, ctx: LoadContext) => {
          previous.push(ctx.previous?.value)
          if (ctx.previous !== undefined) return ctx.notModified()
          return 'v' + previous.length
        },
      })
    const [a, b] = [mk(one), mk(two)]
    await b.get('k')
    await clock.advance('61s')
    let open!: () => void
    gate = new Promise((r) => (open = r))
    const reading = a.get('k')
    await clock.advance(10)
    await b.invalidate('k')
    await clock.advance(10)
    open()
    gate = undefined
    expect(await reading).toBe('v1')
    await clock.advance(10)
    expect(previous.every((value) => value === undefined)).toBe(true)
    expect(await b.get('k')).not.toBe('v1')
  })
})

it('refresh() never answers with a value whose load began before the call', async () => {
  // Found by schedules.test.ts, seed 2.
  const { clock, process } = world()
  const options = { staleWhileRevalidate: '1h' } as const
  const [one, two] = [await process(options), await process(options)]
  let run = 0
  const load = async (_id: string): Promise<number> => ++run
  await one.define({ name: 'item', load }).get('k')
  await clock.advance(100)
  const item = two.define({ name: 'item', load })
  const forced = settled(item.refresh('k'))
  const expired = settled(item.expire('k'))
  await clock.advance(100)
  expect(expired.state).toBe('resolved')
  expect(forced.value).toBe(2)
})

it('a result that is not to be stored is not given to one who comes after the load has ended', async () => {
  const { process } = world()
  const cache = await process()
  let run = 0
  const item = cache.define({
    name: 'item',
    load: async (_id: string, ctx: LoadContext) => {
      ctx.noStore()
      return ++run
    },
  })
  expect(await item.get('k')).toBe(1)
  expect(await item.get('k')).toBe(2)
})

it('I3 a value that another process has invalidated covers nobody who comes after that was heard', async () => {
  // Found by failing-schedules.test.ts, seed 2: the look had ended, its caller had not gone on yet.
  const { clock, process } = world()
  const options = { staleIfError: '1h' } as const
  const [one, two] = [await process(options), await process(options)]
  let end!: (value: string) => void
  let run = 0
  const load = (_id: string): Promise<string> | string =>
    ++run === 1 ? 'old' : new Promise<string>((resolve) => (end = resolve))
  const a = one.define({ name: 'item', load })
  const b = two.define({ name: 'item', load })
  await a.get('k')
  await clock.advance('61s')
  for (let ticks = 0; ticks < 30; ticks++) {
    const before = settled(b.get('k', { timeout: '1s' }))
    for (let n = 0; n < ticks; n++) await Promise.resolve()
    await a.invalidate('k')
    await clock.advance(0)
    const after = settled(b.get('k', { timeout: 1 }))
    await clock.advance(1)
    expect([ticks, after.state, after.value]).toEqual([ticks, 'rejected', undefined])
    end('old')
    await clock.advance('2s')
    await a.set('k', 'old')
    await clock.advance('61s')
    expect(before.state).not.toBe('pending')
  }
})
