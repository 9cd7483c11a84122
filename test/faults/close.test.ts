// The end of a cache: drained, bounded, everyone told, nothing left behind. In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'

const closed = { code: 'CLOSED' }

/** Whether it has settled by now, without waiting for it. */
function watch(promise: Promise<unknown>): { readonly settled: boolean } {
  const state = { settled: false }
  const settle = () => {
    state.settled = true
  }
  promise.then(settle, settle)
  return state
}

describe('close', () => {
  it('drains: a load that ends in time answers its callers and is published', async () => {
    const { clock, process } = world()
    const [a, b] = await Promise.all([process(), process()])
    const loader = controlled<string>()
    const caller = a.getOrLoad('k', loader.load)
    await clock.advance(10)
    const closing = a.close()
    const state = watch(closing)
    await clock.advance('1s')
    expect(state.settled).toBe(false)
    loader.end('value')
    await clock.advance(10)
    expect(await caller).toBe('value')
    expect(state.settled).toBe(true)
    const elsewhere = b.getOrLoad('k', () => 'not this')
    await clock.advance(10)
    expect(await elsewhere).toBe('value')
  })

  it('is bounded: who still hangs gets CLOSED, the load is aborted, its lease is free', async () => {
    const { clock, process } = world()
    const [a, b] = await Promise.all([process({ lease: '1h' }), process({ lease: '1h' })])
    let signal: AbortSignal | undefined
    const caller = a.getOrLoad('k', (ctx) => {
      signal = ctx.signal
      return new Promise<string>(() => {})
    })
    const rejected = caller.catch((error: unknown) => error)
    await clock.advance(10)
    const closing = a.close({ timeout: '2s' })
    const state = watch(closing)
    await clock.advance(1_990)
    expect(state.settled).toBe(false)
    expect(signal!.aborted).toBe(false)
    await clock.advance(200)
    expect(state.settled).toBe(true)
    expect(signal!.aborted).toBe(true)
    expect(await rejected).toMatchObject(closed)
    const next = b.getOrLoad('k', () => 'ours')
    await clock.advance(50)
    expect(await next).toBe('ours')
  })

  it('drains who waits for another process, and tells them at the bound', async () => {
    const { clock, process } = world()
    const [a, b] = await Promise.all([process(), process()])
    const loader = controlled<string>()
    const holder = a.getOrLoad('k', loader.load)
    await clock.advance(10)
    const waiter = b.getOrLoad('k', loader.load)
    const other = await process()
    const late = other.getOrLoad('k', loader.load).catch((error: unknown) => error)
    await clock.advance(10)
    const [draining, hurried] = [b.close({ timeout: '1s' }), other.close({ timeout: 100 })]
    await clock.advance(300)
    expect(await late).toMatchObject(closed)
    await hurried
    loader.end('value')
    await clock.advance(10)
    expect([await holder, await waiter]).toEqual(['value', 'value'])
    await clock.advance(200)
    await draining
    expect(loader.runs).toBe(1)
  })

  it('tells those who queue for a place, and starts nothing of theirs', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '1m', clock, limit: { concurrency: 1 } })
    let runs = 0
    const hang = () => {
      runs++
      return new Promise<number>(() => {})
    }
    const callers = ['a', 'b', 'c'].map((key) => cache.getOrLoad(key, hang))
    const settled = Promise.allSettled(callers)
    await clock.advance(10)
    const state = watch(cache.close({ timeout: '1s' }))
    await clock.advance('10s')
    expect(state.settled).toBe(true)
    for (const result of await settled) expect(result).toMatchObject({ reason: closed })
    expect(runs).toBe(1)
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  it.each(['hang', 'fail'] as const)('is bounded when the store does %s', async (how) => {
    const { clock, faulty } = world()
    const { cache, link } = await faulty()
    const loader = controlled<string>()
    const caller = cache.getOrLoad('k', loader.load)
    await clock.advance(10)
    link[how]()
    const state = watch(cache.close({ timeout: '1s' }))
    loader.end('value')
    await clock.advance(1_500)
    expect(await caller).toBe('value')
    expect(state.settled).toBe(true)
  })

  it('T160 is idempotent, and afterwards every call rejects with CLOSED', async () => {
    const { clock, process } = world()
    const cache = await process()
    const item = cache.define({ name: 'item', load: (_id: string) => 1 })
    const kept = item.get('k')
    await clock.advance(10)
    await kept
    const first = cache.close()
    expect(cache.close({ timeout: 1 })).toBe(first)
    await clock.advance(200)
    await first
    await cache[Symbol.asyncDispose]()
    const calls = [
      item.get('k'),
      item.get('other'),
      item.lookup('k'),
      item.peek('k'),
      item.refresh('k'),
      item.set('k', 2),
      item.invalidate('k'),
      item.invalidateMany(['k']),
      item.expire('k'),
      item.getMany(['k']),
      cache.getOrLoad('k', () => 1),
      cache.peek('k'),
      cache.set('k', 1),
      cache.invalidate('k'),
      cache.expire('k'),
    ]
    for (const call of calls) await expect(call).rejects.toMatchObject(closed)
    expect(await item.getManySettled(['k'])).toMatchObject([{ reason: closed }])
    expect(cache.health()).toMatchObject({ status: 'closed' })
    await cache.idle()
  })

  it('stops beating, probing and renewing', async () => {
    const clock = manualClock()
    let timers = 0
    const counting = {
      ...clock,
      after: (ms: number, run: () => void) => {
        timers++
        return clock.after(ms, run)
      },
    }
    for (const state of ['well', 'gone'] as const) {
      const link = faultyStore(memoryStore())
      const cache = createCache({ namespace: 'test', ttl: '1m', clock: counting, store: link })
      await clock.advance(10)
      if (state === 'gone') {
        link.hang()
        const caller = cache.getOrLoad('k', () => 1)
        await clock.advance(200)
        await caller
      }
      const held = cache.getOrLoad('held', () => new Promise(() => {}))
      held.catch(() => {})
      await clock.advance(10)
      const closing = cache.close({ timeout: 10 })
      await clock.advance(500)
      await closing
      const before = timers
      await clock.advance('1m')
      expect(timers - before).toBe(0)
    }
  })
})

describe('idle', () => {
  it('resolves only when refresh and publish are over', async () => {
    const { clock, process } = world()
    const [a, b] = await Promise.all([
      process({ staleWhileRevalidate: '1h' }),
      process({ staleWhileRevalidate: '1h' }),
    ])
    const loader = controlled<string>()
    const first = a.getOrLoad('k', loader.load)
    await clock.advance(10)
    loader.end('old')
    await clock.advance(10)
    await first
    await a.idle()
    await clock.advance('2m')
    expect(await a.getOrLoad('k', loader.load)).toBe('old')
    const state = watch(a.idle())
    await clock.advance('2s')
    expect(state.settled).toBe(false)
    loader.end('new')
    await clock.advance(10)
    expect(state.settled).toBe(true)
    const elsewhere = b.getOrLoad('k', () => 'not this')
    await clock.advance(10)
    expect(await elsewhere).toBe('new')
  })
})
