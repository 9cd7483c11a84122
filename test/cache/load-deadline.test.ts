// A loader that never settles, or throws before it returns: the key is always free again.

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { alone, watched } from '../support/watched.ts'

const never = (): Promise<string> => new Promise<string>(() => {})

describe('a loader that never settles', () => {
  it('T003 T019 ends at loadTimeout on a cold key, and the key can be loaded again', async () => {
    const { clock, cache } = alone({ loadTimeout: '1s' })
    const signals: AbortSignal[] = []
    const item = cache.define({
      name: 'item',
      load: (_id: string, ctx: LoadContext) => {
        signals.push(ctx.signal)
        return signals.length === 1 ? never() : Promise.resolve('value')
      },
    })
    const calls = [watched(item.get('a')), watched(item.get('a'))]
    await clock.advance(999)
    expect(calls.map(({ state }) => state)).toEqual(['pending', 'pending'])
    await clock.advance(1)
    for (const call of calls) {
      expect(call).toMatchObject({ state: 'rejected', error: { code: 'LOAD_TIMEOUT' } })
    }
    expect(signals[0]!.reason).toMatchObject({ code: 'LOAD_TIMEOUT' })
    expect(await item.get('a')).toBe('value')
  })

  it.each(['fresh', 'stale', 'covered', 'expired', 'forced'] as const)(
    'T003 ends at loadTimeout in every state: %s',
    async (state) => {
      const { clock, cache } = alone({
        loadTimeout: '1s',
        staleWhileRevalidate: state === 'stale' ? '1h' : 0,
        staleIfError: state === 'covered' ? '1h' : 0,
      })
      let last: AbortSignal | undefined
      let first = true
      const item = cache.define({
        name: 'item',
        load: (_id: string, ctx: LoadContext) => {
          last = ctx.signal
          if (!first) return never()
          first = false
          return Promise.resolve('old')
        },
      })
      await item.get('a')
      await clock.advance(state === 'fresh' || state === 'forced' ? 100 : '11s')
      const call = watched(state === 'forced' ? item.refresh('a') : item.get('a'))
      await clock.advance('1s')
      switch (state) {
        case 'fresh':
          expect(call.value).toBe('old')
          return
        case 'stale':
        case 'covered':
          expect(call.value).toBe('old')
          break
        case 'expired':
        case 'forced':
          expect(call).toMatchObject({ state: 'rejected', error: { code: 'LOAD_TIMEOUT' } })
      }
      expect(last!.aborted).toBe(true)
      expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
      await clock.advance(0)
      await cache.idle()
    },
  )

  it('T019 frees the lease at loadTimeout, and who waits elsewhere is told', async () => {
    const { clock, process } = world()
    const [one, two] = [await process({ loadTimeout: '5s' }), await process({ loadTimeout: '5s' })]
    const a = one.define({ name: 'item', load: (_id: string) => never() })
    const b = two.define({ name: 'item', load: async (_id: string) => 'value' })
    const here = watched(a.get('k'))
    await clock.advance(10)
    const there = watched(b.get('k'))
    await clock.advance('5s')
    expect(here).toMatchObject({ state: 'rejected', error: { code: 'LOAD_TIMEOUT' } })
    expect(there).toMatchObject({
      state: 'rejected',
      error: { code: 'LOAD_FAILED_ELSEWHERE', remote: { code: 'LOAD_TIMEOUT' } },
    })
    expect(await b.get('k')).toBe('value')
  })

  it('T019 is capped: over the cap callers are refused at once, until an abandoned run ends', async () => {
    const { clock, cache } = alone({
      loadTimeout: '1s',
      limit: { concurrency: 2, queue: '5s' },
    })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: number) => loader.load() })
    for (const n of [1, 2]) void watched(item.get(n))
    await clock.advance('1s')
    await expect(item.get(3)).rejects.toMatchObject({ code: 'OVERLOADED' })
    expect(loader.runs).toBe(2)
    loader.end('at last')
    await clock.advance(0)
    const next = watched(item.get(3))
    await clock.advance(0)
    expect(loader.runs).toBe(3)
    loader.end('at last')
    loader.end('value')
    await clock.advance(0)
    expect(next.value).toBe('value')
  })

  it('does not bring its value in after the deadline', async () => {
    const { clock, cache } = alone({ loadTimeout: '1s' })
    const loader = controlled<string>()
    const item = cache.define({ name: 'item', load: (_id: string) => loader.load() })
    const call = watched(item.get('a'))
    await clock.advance('1s')
    expect(call.state).toBe('rejected')
    loader.end('too late')
    await clock.advance(0)
    expect(await item.peek('a')).toEqual({ state: 'missing' })
  })
})

describe('a loader that throws before it returns a promise', () => {
  const thrown = new Error('sync')

  it.each([1, 2])('T004 rejects like any other and frees the key, in %i processes', async (n) => {
    const { clock, process } = world()
    let bad = true
    const items = []
    for (let i = 0; i < n; i++) {
      items.push(
        (await process()).define({
          name: 'item',
          load: (_id: string): string => {
            if (bad) throw thrown
            return 'value'
          },
        }),
      )
    }
    for (const item of items) {
      expect(await item.get('k').catch((error: unknown) => error)).toBe(thrown)
    }
    bad = false
    for (const item of items) {
      const call = watched(item.get('k'))
      await clock.advance(0)
      expect(call.value).toBe('value')
    }
  })

  it('T004 in a background refresh keeps neither lease nor flight', async () => {
    const { clock, process } = world()
    const cache = await process({ staleWhileRevalidate: '1h', errorBackoff: '1s' })
    let run = 0
    const item = cache.define({
      name: 'item',
      load: (_id: string): string => {
        if (++run === 2) throw thrown
        return `v${run}`
      },
    })
    await item.get('k')
    await clock.advance('61s')
    expect(await item.get('k')).toBe('v1')
    await clock.advance(10)
    await item.invalidate('k')
    const call = watched(item.get('k'))
    await clock.advance(0)
    expect(call.value).toBe('v3')
  })

  it.each([undefined, null, 0, '', 'text', { code: 7 }])(
    'rejects with what was thrown, whatever it is: %o',
    async (what) => {
      const { clock, process } = world()
      const cache = await process()
      const other = await process()
      const load = async (_id: string): Promise<string> => {
        await new Promise<void>((resolve) => void clock.after(100, resolve))
        throw what
      }
      const here = watched(cache.define({ name: 'item', load }).get('k'))
      await clock.advance(10)
      const there = watched(other.define({ name: 'item', load }).get('k'))
      await clock.advance(100)
      expect(here).toEqual({ state: 'rejected', error: what })
      expect(there).toMatchObject({ error: { code: 'LOAD_FAILED_ELSEWHERE' } })
    },
  )
})
