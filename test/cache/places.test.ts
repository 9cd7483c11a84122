// Found: loads that wait for themselves, overtake the limiter, or keep what they should give back.

import { describe, expect, it } from 'vitest'
import type { LoadContext } from '../../src/index.ts'
import { controlled, world } from '../support/two-processes.ts'
import { alone as local, watched as settled } from '../support/watched.ts'

describe('places', () => {
  it('T040 private callers that arrive one after another load side by side', async () => {
    const { clock, cache } = local()
    let going = 0,
      most = 0
    const item = cache.define({
      name: 'item',
      load: async (_: string, ctx: LoadContext) => {
        ctx.private()
        most = Math.max(most, ++going)
        await new Promise<void>((r) => clock.after(1000, r))
        going--
        return 'mine'
      },
    })
    const first = item.get('a')
    await clock.advance(1000)
    await first
    const calls = []
    for (let n = 0; n < 6; n++) {
      calls.push(settled(item.get('a')))
      await clock.advance(10)
    }
    await clock.advance(1000)
    expect(calls.map((c) => c.state)).toEqual(Array(6).fill('resolved'))
  })

  it('a loader that invalidates its key and asks for it again gets CYCLE at once', async () => {
    const { clock, cache } = local()
    const item = cache.define({
      name: 'item',
      load: async (id: string): Promise<string> => {
        await item.invalidate(id)
        return item.get(id)
      },
    })
    const call = settled(item.get('a'))
    await clock.advance(10)
    expect(call).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
  })

  it('a loader that refreshes its own key gets CYCLE at once', async () => {
    const { clock, cache } = local()
    const item = cache.define({
      name: 'item',
      load: async (id: string): Promise<string> => item.refresh(id),
    })
    const call = settled(item.get('a'))
    await clock.advance(10)
    expect(call).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
  })

  it('a loader of an uncacheable key that asks for it gets CYCLE at once', async () => {
    const { clock, cache } = local()
    let depth = 0
    const item = cache.define({
      name: 'item',
      load: async (id: string, ctx: LoadContext): Promise<string> => {
        ctx.private()
        if (++depth === 1) return 'x'
        return item.get(id)
      },
    })
    await item.get('a')
    const call = settled(item.get('a'))
    await clock.advance(10)
    expect(call).toMatchObject({ state: 'rejected', error: { code: 'CYCLE' } })
  })

  it('a load inside a load that joins one in the queue lets it ride on its parent’s place', async () => {
    const { clock, cache } = local({ limit: { concurrency: 1, queue: '5s' } })
    let go!: () => void
    const gate = new Promise<void>((r) => (go = r))
    const b = cache.define({ name: 'b', load: async (_: string) => 'b' })
    const a = cache.define({
      name: 'a',
      load: async (_: string) => {
        await gate
        return 'a' + (await b.get('x'))
      },
    })
    const parent = settled(a.get('x'))
    await clock.advance(10)
    const child = settled(b.get('x'))
    await clock.advance(10)
    go()
    await clock.advance(100)
    expect(parent).toMatchObject({ state: 'resolved', value: 'ab' })
    expect(child).toMatchObject({ state: 'resolved' })
  })

  it('work that a finished loader left behind goes through the limiter', async () => {
    const { clock, cache } = local({ limit: { concurrency: 2, queue: '5s' } })
    let go!: () => void
    const gate = new Promise<void>((r) => (go = r))
    let going = 0,
      most = 0
    const b = cache.define({
      name: 'b',
      load: async (_: number) => {
        most = Math.max(most, ++going)
        await new Promise<void>((r) => clock.after(100, r))
        going--
        return 1
      },
    })
    const a = cache.define({
      name: 'a',
      load: async (_: string) => {
        void gate.then(() => Promise.all(Array.from({ length: 10 }, (_, n) => b.get(n))))
        return 'a'
      },
    })
    await a.get('x')
    await clock.advance(0)
    go()
    await clock.advance(3000)
    expect(most).toBe(2)
  })

  it('a load that is given up in the queue gives its lease back at once', async () => {
    const { clock, process } = world()
    const one = await process({ limit: { concurrency: 1, queue: '5s' } })
    const two = await process()
    const busy = one.define({ name: 'busy', load: (_: string) => new Promise<string>(() => {}) })
    const loader = controlled<string>()
    const [a, b] = [one, two].map((c) =>
      c.define({ name: 'item', load: (_: string) => loader.load() }),
    )
    settled(busy.get('x'))
    await clock.advance(10)
    const controller = new AbortController()
    const left = settled(a!.get('k', { signal: controller.signal }))
    await clock.advance(10)
    controller.abort()
    await clock.advance(10)
    expect(left.state).toBe('rejected')
    settled(b!.get('k'))
    await clock.advance(10)
    expect(loader.runs).toBe(1)
  })

  it('the load ends when its last caller leaves, also when its lease was lost before', async () => {
    const { clock, process } = world()
    const one = await process()
    let signal!: AbortSignal
    const item = one.define({
      name: 'item',
      load: (_: string, ctx: LoadContext) => {
        signal = ctx.signal
        return new Promise<string>(() => {})
      },
    })
    const controller = new AbortController()
    settled(item.get('k', { signal: controller.signal }))
    await clock.advance(10)
    await item.invalidate('k')
    await clock.advance(1100)
    controller.abort()
    await clock.advance(1100)
    expect(signal.aborted).toBe(true)
  })
})
