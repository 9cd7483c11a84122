// What nobody awaits fails in silence, but not unnoticed. In virtual time.

import { AsyncLocalStorage } from 'node:async_hooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'

const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(() => void process.removeListener('unhandledRejection', onUnhandled))

describe('background work', () => {
  it('T028 T027 a failing refresh is no unhandled rejection, and is told of once', async () => {
    const clock = manualClock()
    const cache = createCache({
      namespace: 'test',
      ttl: '1s',
      staleWhileRevalidate: '1h',
      clock,
      errorBackoff: '10s',
    })
    const told: unknown[] = []
    cache.on('loadFailed', (event) => told.push(event))
    let fails = false
    const error = new Error('no')
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => {
        if (fails) throw error
        return 1
      },
    })
    await item.get('k')
    await clock.advance('2s')
    fails = true
    for (let n = 0; n < 10; n++) expect(await item.get('k')).toBe(1)
    await clock.advance(10)
    await turn()
    expect(told).toEqual([{ name: 'item', key: item.key('k'), error, reason: 'stale' }])
    expect(cache.counters()['item']).toMatchObject({ loadsFailed: 1 })
    expect(unhandled).toEqual([])
  })

  it.each(['throws'] as const)('T028 a listener that %s harms nobody', async (how) => {
    const { clock, faulty } = world()
    const { cache, link } = await faulty({ ttl: '1s', staleWhileRevalidate: '1h' })
    const listener = (): void => {
      if (how === 'throws') throw new Error('listener')
      return Promise.reject(new Error('listener')) as never
    }
    for (const event of [
        'answer', 'load', 'loadFailed', 'fenced', 'waited', 'invalidated', 'unstorable',
        'unreadable', 'callbackFailed', 'storeFailed', 'breaker', 'bus',
      ] as const) cache.on(event, listener) // prettier-ignore
    const first = cache.getOrLoad('k', () => 1)
    await clock.advance(10)
    expect(await first).toBe(1)
    await clock.advance('2s')
    link.fail()
    const fail = () => Promise.reject(new Error('source'))
    const stale = cache.getOrLoad('k', fail)
    await clock.advance(10)
    expect(await stale).toBe(1)
    await expect(cache.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await clock.advance('10s')
    await turn()
    expect(unhandled).toEqual([])
  })

  it.each(['throws'] as const)('T028 a waitUntil that %s harms nobody', async (how) => {
    const clock = manualClock()
    const cache = createCache({
      namespace: 'test',
      ttl: '1s',
      staleWhileRevalidate: '1h',
      clock,
      waitUntil: () => {
        if (how === 'throws') throw new Error('platform')
        return Promise.reject(new Error('platform')) as never
      },
    })
    let n = 0
    const load = () => ++n
    await cache.getOrLoad('k', load)
    await clock.advance('2s')
    expect(await cache.getOrLoad('k', load)).toBe(1)
    await clock.advance(10)
    await turn()
    expect(await cache.getOrLoad('k', load)).toBe(2)
    expect(unhandled).toEqual([])
  })

  it('T037 waitUntil is given every refresh, which ends when the new value is in the store', async () => {
    const clock = manualClock()
    const store = memoryStore()
    const given: Promise<unknown>[] = []
    const cache = createCache({
      namespace: 'test',
      ttl: '1s',
      staleWhileRevalidate: '1h',
      clock,
      store,
      waitUntil: (work) => given.push(work),
    })
    const other = createCache({ namespace: 'test', ttl: '1s', clock, store })
    await clock.advance(10)
    const loader = controlled<string>()
    const first = cache.getOrLoad('k', loader.load)
    await clock.advance(10)
    loader.end('old')
    await first
    await clock.advance('2s')
    given.length = 0
    expect(await cache.getOrLoad('k', loader.load)).toBe('old')
    expect(await cache.getOrLoad('k', loader.load)).toBe('old')
    await clock.advance(10)
    expect(given).toHaveLength(1)
    let over = false
    void given[0]!.then(() => (over = true))
    await clock.advance(10)
    expect(over).toBe(false)
    loader.end('new')
    await clock.advance(10)
    expect(over).toBe(true)
    expect(await other.peek('k')).toMatchObject({ value: 'new' })
  })

  it('T037 waitUntil runs in the context of the request whose answer goes on, be it the loader or a refresh', async () => {
    const request = new AsyncLocalStorage<string>()
    const clock = manualClock()
    const given: (string | undefined)[] = []
    const cache = createCache({
      namespace: 'test',
      ttl: '1s',
      staleWhileRevalidate: '1h',
      clock,
      store: memoryStore(),
      waitUntil: () => given.push(request.getStore()),
    })
    await clock.advance(10)
    const item = cache.define({ name: 'item', load: (id: string) => id })
    const shared = cache.define({ name: 'shared', load: (id: string) => id, memory: false })
    for (const [name, read] of [
      ['one-off', () => cache.getOrLoad('k', () => 'k')],
      ['resource', () => item.get('k')],
      ['batch', () => item.getMany(['l'])],
      ['without memory', () => shared.get('k')],
      ['batch without memory', () => shared.getMany(['l'])],
    ] as readonly (readonly [string, () => Promise<unknown>])[]) {
      given.length = 0
      const reading = request.run(`${name} publishes`, read)
      await clock.advance(10)
      await reading
      await clock.advance('2s')
      await request.run(`${name} refreshes`, read)
      await clock.advance(10)
      expect(given).toEqual([`${name} publishes`, `${name} refreshes`])
    }
  })

  it.each(['fail', 'hang'] as const)(
    'T028 nothing is unhandled when the store does %s at any moment',
    async (how) => {
      const clock = manualClock()
      const link = faultyStore(memoryStore())
      const make = () =>
        createCache({
          namespace: 'test',
          ttl: '1s',
          staleWhileRevalidate: '1s',
          staleIfError: '5s',
          clock,
          store: link,
        })
      const caches = [make(), make()]
      await clock.advance(10)
      let runs = 0
      const load = async () => {
        if (++runs % 3 === 0) throw new Error('source')
        await new Promise<void>((resolve) => void clock.after(7, resolve))
        return runs
      }
      for (let step = 0; step < 300; step++) {
        const cache = caches[step % 2]!
        const key = `k${step % 5}`
        if (step % 40 === 20) link[how]()
        if (step % 40 === 35) link.heal()
        // Nobody looks at these: what the caller does with a rejection is the caller's business.
        cache.getOrLoad(key, load).catch(() => {})
        if (step % 7 === 0) cache.invalidate(key).catch(() => {})
        if (step % 11 === 0) cache.expire(key).catch(() => {})
        if (step % 13 === 0) cache.set(key, step).catch(() => {})
        await clock.advance(step % 40 === 0 ? 3_000 : 23)
      }
      link.heal()
      await clock.advance('10s')
      for (const cache of caches) {
        expect(cache.health()).toMatchObject({ status: 'ok', loads: { running: 0, queued: 0 } })
        await cache.idle()
      }
      await turn()
      expect(unhandled).toEqual([])
    },
  )
})
