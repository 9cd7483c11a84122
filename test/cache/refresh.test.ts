// refresh(): loads now, never joins an older load, and leaves the entry alone when it fails.

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { alone, runs, watched } from '../support/watched.ts'

describe('refresh', () => {
  it('loads although the entry is fresh, and everyone gets the new value', async () => {
    const { clock, process } = world()
    const loader = controlled<string>()
    const reasons: string[] = []
    const items = []
    for (let n = 0; n < 2; n++) {
      items.push(
        (await process({ memory: n === 0 ? undefined : false })).define({
          name: 'item',
          load: (_id: string, ctx: LoadContext) => {
            reasons.push(ctx.reason)
            return loader.load()
          },
        }),
      )
    }
    const first = items[0]!.get('k')
    await clock.advance(0)
    loader.end('old')
    await first
    const forced = items[0]!.refresh('k')
    await clock.advance(0)
    loader.end('new')
    expect(await forced).toBe('new')
    await clock.advance(0)
    for (const item of items) expect(await item.get('k')).toBe('new')
    expect(reasons).toEqual(['miss', 'forced'])
  })

  it('rejects when the load fails, keeps the old entry, and holds nobody back', async () => {
    const { clock, process } = world()
    const cache = await process()
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const first = item.get('k')
    await clock.advance(0)
    loader.end('old')
    await first
    const error = new Error('no')
    const forced = watched(item.refresh('k'))
    await clock.advance(0)
    const meanwhile = watched(item.get('k'))
    await clock.advance(0)
    expect(meanwhile.value).toBe('old')
    loader.fail(error)
    await clock.advance(0)
    expect(forced).toEqual({ state: 'rejected', error })
    expect(await item.get('k')).toBe('old')
    const again = watched(item.refresh('k'))
    await clock.advance(0)
    loader.end('new')
    await clock.advance(0)
    expect(again.value).toBe('new')
  })

  it('never joins a load that began before; that load answers its callers and is stored nowhere', async () => {
    const { clock, process } = world()
    const [one, two] = [await process(), await process()]
    const load = runs<string>()
    const a = one.define({ name: 'item', load: (_id: string) => load.next() })
    const b = two.define({ name: 'item', load: (_id: string) => load.next() })
    const before = watched(a.get('k'))
    await clock.advance(10)
    const forced = watched(b.refresh('k'))
    await clock.advance(10)
    expect(load.all).toHaveLength(2)
    load.all[1]!.resolve('new')
    await clock.advance(0)
    load.all[0]!.resolve('old')
    await clock.advance(0)
    expect(before.value).toBe('old')
    expect(forced.value).toBe('new')
    for (const item of [a, b]) expect(await item.get('k')).toBe('new')
    expect(one.counters()['item']).toMatchObject({ fenced: 1, published: 0 })
  })

  it('two at once share a load that has not begun, and never one that has', async () => {
    const { clock, cache } = alone({ limit: { concurrency: 1, queue: '5s' } })
    const load = runs<string>()
    const busy = cache.define({ name: 'busy', load: (_id: string) => load.next() })
    const item = cache.define({ name: 'item', load: (_id: string) => load.next() })
    void watched(busy.get('x'))
    await clock.advance(0)
    const queued = [watched(item.refresh('k')), watched(item.refresh('k'))]
    await clock.advance(0)
    expect(load.all).toHaveLength(1)
    load.all[0]!.resolve('done')
    await clock.advance(0)
    expect(load.all).toHaveLength(2)
    const after = watched(item.refresh('k'))
    await clock.advance(0)
    load.all[1]!.resolve('first')
    await clock.advance(0)
    expect(queued.map(({ value }) => value)).toEqual(['first', 'first'])
    expect(after.state).toBe('pending')
    load.all[2]!.resolve('second')
    await clock.advance(0)
    expect(after.value).toBe('second')
    expect(await item.get('k')).toBe('second')
  })

  it('is not held up by a remembered failure or a back-off', async () => {
    const { clock, process } = world()
    const cache = await process({ errorTtl: '1m' })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const failed = watched(item.get('k'))
    await clock.advance(0)
    loader.fail(new Error('no'))
    await clock.advance(0)
    expect(failed.state).toBe('rejected')
    await expect(item.get('k')).rejects.toThrow('no')
    expect(loader.runs).toBe(1)
    const forced = watched(item.refresh('k'))
    await clock.advance(0)
    loader.end('value')
    await clock.advance(0)
    expect(forced.value).toBe('value')
    expect(await item.get('k')).toBe('value')
  })

  it('gives the loader what is there as previous, and notModified renews it', async () => {
    const { clock, process } = world()
    const [one, two] = [await process({ ttl: '10s' }), await process({ ttl: '10s' })]
    const seen: unknown[] = []
    const load = async (_id: string, ctx: LoadContext): Promise<string> => {
      seen.push(ctx.previous && { value: ctx.previous.value, meta: ctx.previous.meta })
      if (ctx.previous !== undefined) return ctx.notModified()
      ctx.meta({ etag: 'e1' })
      return 'body'
    }
    const a = one.define({ name: 'item', load })
    const b = two.define({ name: 'item', load })
    await a.get('k')
    await clock.advance('9s')
    expect(await b.refresh('k')).toBe('body')
    await clock.advance('9s')
    expect(await b.lookup('k')).toMatchObject({ outcome: 'hit', value: 'body' })
    expect(await b.peek('k')).toMatchObject({ meta: { etag: 'e1' } })
    expect(seen).toEqual([undefined, { value: 'body', meta: { etag: 'e1' } }])
  })

  it('notModified without a previous value is NO_PREVIOUS', async () => {
    const { cache } = alone()
    const item = cache.define({
      name: 'item',
      load: async (_id: string, ctx: LoadContext): Promise<string> => ctx.notModified(),
    })
    await expect(item.get('a')).rejects.toMatchObject({ code: 'NO_PREVIOUS' })
  })

  it.each(['expire', 'invalidate'] as const)(
    'after %s, previous is there only after expire',
    async (verb) => {
      const { clock, process } = world()
      const cache = await process({ staleIfError: '1h' })
      const seen: unknown[] = []
      const item = cache.define({
        name: 'item',
        load: async (_id: string, ctx: LoadContext) => {
          seen.push(ctx.previous?.value)
          return 'body'
        },
      })
      await item.get('k')
      await item[verb]('k')
      await clock.advance(0)
      await item.get('k')
      expect(seen).toEqual([undefined, verb === 'expire' ? 'body' : undefined])
    },
  )
})

describe('maxAge', () => {
  it('is compared with the start of the load, also when joining one', async () => {
    const { clock, cache } = alone()
    const load = runs<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => load.next() })
    const slow = watched(item.get('a'))
    await clock.advance(100)
    const joins = watched(item.get('a', { maxAge: 100 }))
    const another = watched(item.get('a', { maxAge: 99 }))
    await clock.advance(0)
    expect(load.all).toHaveLength(2)
    load.all[0]!.resolve('old')
    await clock.advance(0)
    expect([slow.value, joins.value]).toEqual(['old', 'old'])
    expect(another.state).toBe('pending')
    load.all[1]!.resolve('new')
    await clock.advance(0)
    expect(another.value).toBe('new')
  })

  it('is kept across processes: what another process began too early does not do', async () => {
    const { clock, process } = world()
    const load = runs<string>()
    const [one, two] = [await process(), await process()]
    void watched(one.define({ name: 'item', load: (_id: string) => load.next() }).get('k'))
    await clock.advance(100)
    const item = two.define({ name: 'item', load: (_id: string) => load.next() })
    const call = watched(item.get('k', { maxAge: 50 }))
    await clock.advance(10)
    load.all[0]!.resolve('too old')
    await clock.advance(10)
    expect(load.all).toHaveLength(2)
    load.all[1]!.resolve('new')
    await clock.advance(10)
    expect(call.value).toBe('new')
  })
})
