// Loads inside loads: they ride on their parent's place, and a cycle is told at once.

import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import type { Resource } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { alone, watched } from '../support/watched.ts'

describe('a load inside a load', () => {
  it('rides on its parent’s place, so that parents holding every place do not starve', async () => {
    const { clock, cache } = alone({ limit: { concurrency: 2, queue: '5s' } })
    const child = cache.define({
      name: 'child',
      load: async (id: number) => {
        await new Promise<void>((resolve) => void clock.after(10, resolve))
        return id * 10
      },
    })
    const parent = cache.define({ name: 'parent', load: (id: number) => child.get(id) })
    const calls = Array.from({ length: 6 }, (_, id) => watched(parent.get(id)))
    await clock.advance(100)
    expect(calls.map(({ value }) => value)).toEqual([0, 10, 20, 30, 40, 50])
  })

  it('that asks for itself gets CYCLE at once', async () => {
    const { clock, cache } = alone()
    const item: Resource<string, string> = cache.define({
      name: 'item',
      load: (id: string): Promise<string> => item.get(id),
    })
    const call = watched(item.get('a'))
    await clock.advance(0)
    expect(call).toMatchObject({
      state: 'rejected',
      error: { code: 'CYCLE', key: item.key('a') },
    })
  })

  it.each([2, 3, 5])(
    'that asks for itself through %i others gets CYCLE at once',
    async (length) => {
      const { clock, process } = world()
      const cache = await process()
      const item: Resource<number, number> = cache.define({
        name: 'item',
        load: async (id: number): Promise<number> => item.get((id + 1) % length),
      })
      const calls = Array.from({ length }, (_, id) => watched(item.get(id)))
      await clock.advance(10)
      for (const call of calls) {
        expect(call).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
      }
      expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
    },
  )

  it('two flights that begin to wait for each other: one is told, both end, the key is free', async () => {
    const { clock, cache } = alone()
    let open!: () => void
    const gate = new Promise<void>((resolve) => (open = resolve))
    let crossed = true
    const item: Resource<string, string> = cache.define({
      name: 'item',
      load: async (id: string): Promise<string> => {
        await gate
        return crossed ? item.get(id === 'a' ? 'b' : 'a') : id
      },
    })
    const calls = [watched(item.get('a')), watched(item.get('b'))]
    await clock.advance(0)
    open()
    await clock.advance(0)
    for (const call of calls) {
      expect(call).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
    }
    crossed = false
    expect(await item.get('a')).toBe('a')
  })

  it('that survives its CYCLE gives its value', async () => {
    const { clock, cache } = alone()
    const item: Resource<string, string> = cache.define({
      name: 'item',
      load: (id: string): Promise<string> => item.get(id).catch(() => 'root'),
    })
    const call = watched(item.get('a'))
    await clock.advance(0)
    expect(call.value).toBe('root')
  })

  it('a diamond is no cycle', async () => {
    const { clock, cache } = alone()
    const base = cache.define({ name: 'base', load: async () => 1 })
    const left = cache.define({ name: 'left', load: () => base.get() })
    const right = cache.define({ name: 'right', load: () => base.get() })
    const top = cache.define({
      name: 'top',
      load: async () => (await Promise.all([left.get(), right.get(), base.get()])).join(),
    })
    const call = watched(top.get())
    await clock.advance(0)
    expect(call.value).toBe('1,1,1')
  })

  it('of another cache with the same key is no cycle', async () => {
    const one = alone()
    const two = alone()
    const inner = two.cache.define({ name: 'item', load: async (_id: string) => 'inner' })
    const outer = one.cache.define({ name: 'item', load: (id: string) => inner.get(id) })
    expect(await outer.get('a')).toBe('inner')
  })

  it('across processes a cycle ends at waitTimeout, with values', async () => {
    const { clock, process } = world()
    const caches = [await process({ waitTimeout: '1s' }), await process({ waitTimeout: '1s' })]
    const items: Resource<string, string>[] = caches.map((cache) =>
      cache.define({
        name: 'item',
        load: async (id: string): Promise<string> => {
          if (deep.has(id)) return id
          deep.add(id)
          await new Promise<void>((resolve) => void clock.after(50, resolve))
          return `${id}<${await items[id === 'a' ? 0 : 1]!.get(id === 'a' ? 'b' : 'a')}`
        },
      }),
    )
    const deep = new Set<string>()
    const calls = [watched(items[0]!.get('a')), watched(items[1]!.get('b'))]
    await clock.advance('3s')
    for (const call of calls) expect(call.value).toMatch(/^(a<b|b<a)/)
  })
})

describe('the async context', () => {
  const request = new AsyncLocalStorage<string>()

  it('of a foreground load is that of the call that started it, of a background load the cache’s', async () => {
    const { clock, process } = world()
    const seen: (string | undefined)[] = []
    const cache = await process({ staleWhileRevalidate: '1h' })
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => {
        seen.push(request.getStore())
        await Promise.resolve()
        seen.push(request.getStore())
        return 'value'
      },
    })
    const first = request.run('first', () => item.get('k'))
    const joined = request.run('second', () => item.get('k'))
    await Promise.all([first, joined])
    await clock.advance('61s')
    await request.run('third', () => item.get('k'))
    await clock.advance(0)
    expect(seen).toEqual(['first', 'first', undefined, undefined])
  })

  it('of a queued load is that of its own call, not of the one that made room', async () => {
    const { clock, cache } = alone({ limit: { concurrency: 1, queue: '5s' } })
    const loader = controlled<string>()
    const seen: (string | undefined)[] = []
    const item = cache.define({
      name: 'item',
      load: (_id: number) => {
        seen.push(request.getStore())
        return loader.load()
      },
    })
    for (const n of [1, 2, 3]) request.run(`call ${n}`, () => void watched(item.get(n)))
    for (let n = 0; n < 3; n++) {
      await clock.advance(0)
      loader.end('value')
    }
    await clock.advance(0)
    expect(seen).toEqual(['call 1', 'call 2', 'call 3'])
  })

  it('of the caller is its own again after the answer', async () => {
    const { cache } = alone()
    const item = cache.define({ name: 'item', load: async (_id: string) => 'value' })
    await request.run('mine', async () => {
      await item.get('a')
      expect(request.getStore()).toBe('mine')
      await item.get('a')
      expect(request.getStore()).toBe('mine')
    })
  })
})
