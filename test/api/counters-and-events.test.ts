// What is counted and told agrees with what happened: each answer once, stale apart from fresh
// (T156), each failed refresh once (T027), nothing made while nobody listens.

import { describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheEvents, type Counters } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { controlled, world } from '../support/two-processes.ts'

const names = [
  'answer', 'load', 'loadFailed', 'fenced', 'waited', 'invalidated', 'unstorable', 'unreadable', 'callbackFailed',
] as const satisfies (keyof CacheEvents)[] // prettier-ignore

function listen(cache: Cache): {
  told: [string, Record<string, unknown>][]
  of(name: string): Record<string, unknown>[]
} {
  const told: [string, Record<string, unknown>][] = []
  for (const name of names) cache.on(name, (event) => told.push([name, event as never]))
  return { told, of: (name) => told.filter(([of]) => of === name).map(([, event]) => event) }
}

const outcomes = [
  'hitMemory',
  'hitStore',
  'stale',
  'loaded',
  'waited',
  'fallback',
  'failed',
] as const
const answers = (counters: Readonly<Counters> | undefined): Record<string, number> =>
  Object.fromEntries(
    outcomes.map((name) => [name, counters![name]] as const).filter(([, count]) => count > 0),
  )

describe('answers', () => {
  it('are counted once each, by tier and outcome, and told as often', async () => {
    const { clock, process } = world()
    const [a, b] = [await process({ staleWhileRevalidate: '30s' }), await process()]
    const loader = controlled<string>()
    const [one, two] = [a, b].map((cache) => cache.define({ name: 'item', load: (_: string) => loader.load() })) // prettier-ignore
    const heard = [listen(a), listen(b)] as const
    const callers = [one!.get('x'), one!.lookup('x'), two!.get('x'), two!.get('x')]
    await clock.advance(20)
    loader.end('1')
    await clock.advance(20)
    await Promise.all(callers)
    expect(answers(a.counters()['item'])).toEqual({ loaded: 2 })
    expect(answers(b.counters()['item'])).toEqual({ waited: 2 })
    await Promise.all([one!.get('x'), one!.getMany(['x', 'x']), two!.get('x')])
    expect(answers(a.counters()['item'])).toEqual({ loaded: 2, hitMemory: 3 })
    expect(answers(b.counters()['item'])).toEqual({ waited: 2, hitMemory: 1 })
    await clock.advance('61s')
    expect(await one!.lookup('x')).toMatchObject({ outcome: 'stale', tier: 'memory', value: '1' })
    await clock.advance(1)
    loader.end('2')
    await clock.advance(1)
    expect(await one!.get('x')).toBe('2')
    expect(answers(a.counters()['item'])).toEqual({ loaded: 2, hitMemory: 4, stale: 1 })
    const told = heard[0].of('answer').map(({ outcome }) => outcome)
    expect(told).toEqual(['loaded', 'loaded', 'hit', 'hit', 'hit', 'stale', 'hit'])
    for (const event of heard[0].of('answer')) expect(event).toMatchObject({ name: 'item', key: one!.key('x') }) // prettier-ignore
    expect(heard[0].of('load')).toEqual([
      { name: 'item', key: one!.key('x'), ms: 20, reason: 'miss', unleased: undefined, callers: 2 },
      { name: 'item', key: one!.key('x'), ms: 1, reason: 'stale', unleased: undefined, callers: 0 },
    ])
    expect(heard[1].of('load')).toEqual([])
    expect(heard[1].of('waited').length).toBeGreaterThan(0)
    expect(a.counters()['item']).toMatchObject({ loads: 2, loadsMiss: 1, loadsStale: 1, leases: 2, published: 2, fenced: 0 }) // prettier-ignore
    expect(b.counters()['item']).toMatchObject({ loads: 0, leases: 0, published: 0 })
  })

  it('of the store are hits in the store, each caller counted', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    await a.set('x', 1)
    await clock.advance(1)
    expect(await Promise.all([1, 2, 3].map(() => b.getOrLoad('x', () => 2)))).toEqual([1, 1, 1])
    expect(await b.getOrLoad('x', () => 2)).toBe(1)
    expect(answers(b.counters()[''])).toEqual({ hitStore: 3, hitMemory: 1 })
  })

  it('that say "does not exist" are counted beside their outcome', async () => {
    const cache = createCache({ namespace: 'test', ttl: '60s', clock: manualClock() })
    for (const value of [null, undefined, null]) {
      const key = String(value)
      await cache.getOrLoad(key, () => value)
    }
    expect(cache.counters()['']).toMatchObject({ negative: 3, loaded: 2, hitMemory: 1 })
  })

  it('that never came are counted as failed, each call once', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '60s', clock, loadTimeout: '10s' })
    const item = cache.define({ name: 'item', load: (_: string) => new Promise<string>(() => {}) })
    const controller = new AbortController()
    const { of } = listen(cache)
    const calls = [
      item.get('x', { signal: controller.signal }),
      item.get('x', { timeout: '1s' }),
      item.get('x'),
    ]
    const settled = Promise.allSettled(calls)
    await clock.advance(1)
    controller.abort(new Error('enough'))
    await clock.advance('11s')
    expect((await settled).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']) // prettier-ignore
    expect(answers(cache.counters()['item'])).toEqual({ failed: 3 })
    expect(cache.counters()['item']).toMatchObject({ loads: 0, loadsFailed: 1 })
    expect(of('answer')).toEqual([])
    expect(of('loadFailed')).toMatchObject([{ reason: 'miss', error: { code: 'LOAD_TIMEOUT' } }])
  })
})

describe('failures', () => {
  it('T027 of a background refresh are told once each, with the error', async () => {
    const clock = manualClock()
    const cache = createCache({ namespace: 'test', ttl: '60s', staleWhileRevalidate: '1h', clock })
    let fails = false
    const error = new Error('upstream')
    const load = (_: string) => {
      if (fails) throw error
      return 1
    }
    const item = cache.define({ name: 'item', load })
    const { of } = listen(cache)
    await item.get('x')
    fails = true
    await clock.advance('61s')
    for (let i = 0; i < 10; i++) expect(await item.get('x')).toBe(1)
    await clock.advance(1)
    for (let i = 0; i < 10; i++) expect(await item.get('x')).toBe(1) // within errorBackoff
    expect(of('loadFailed')).toEqual([{ name: 'item', key: item.key('x'), error, reason: 'stale' }])
    await clock.advance('2s')
    await item.get('x')
    await clock.advance(1)
    expect(of('loadFailed')).toHaveLength(2)
    expect(cache.counters()['item']).toMatchObject({ loadsFailed: 2, stale: 21, failed: 0 })
  })
})

describe('events', () => {
  it('invalidated names the keys, in this process; peek and a look at health tell nothing', async () => {
    const cache = createCache({ namespace: 'test', ttl: '60s', clock: manualClock() })
    const item = cache.define({ name: 'item', load: (_: string) => 1 })
    const { told } = listen(cache)
    await item.invalidateMany(['x', 'y'])
    await item.expire('x')
    await item.set('x', 5)
    expect(told.map(([, event]) => event['keys'])).toEqual([
      [item.key('x'), item.key('y')],
      [item.key('x')],
      [item.key('x')],
    ])
    await item.peek('x')
    cache.health()
    cache.counters()
    await cache.idle()
    await item.invalidateMany([])
    expect(told).toHaveLength(3)
  })

  it('fenced tells of a load that an invalidation overtook', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    const loader = controlled<string>()
    const item = a.define({ name: 'item', load: (_: string) => loader.load() })
    const { of } = listen(a)
    const got = item.get('x')
    await clock.advance(5)
    await b.define({ name: 'item', load: (_: string) => 'other' }).invalidate('x')
    loader.end('old')
    await clock.advance(5)
    expect(await got).toBe('old')
    expect(of('fenced')).toEqual([{ name: 'item', key: item.key('x') }])
    expect(a.counters()['item']).toMatchObject({ fenced: 1, published: 0 })
  })
})
