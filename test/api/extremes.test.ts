// Extreme but legal: very long durations on the real clock (T045, T046), tiny tiers, odd reasons to
// abort, nothing kept at all.

import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

const warned: string[] = []
const onWarning = (warning: Error) => void warned.push(warning.message)
beforeEach(() => {
  warned.length = 0
  process.on('warning', onWarning)
})
afterEach(async () => {
  vi.useRealTimers()
  await new Promise((resolve) => setImmediate(resolve))
  process.off('warning', onWarning)
})

const make = (more: Partial<CacheOptions> = {}) =>
  createCache({ namespace: 'test', ttl: '60s', clock: manualClock(), ...more })
const onRealTime = (more: Partial<CacheOptions> = {}) =>
  createCache({ namespace: 'test', ttl: '60s', store: memoryStore(), ...more })
const soon = <T>(value: T) => new Promise<T>((resolve) => setTimeout(resolve, 20, value))

const fail = (): never => {
  throw new Error('x')
}

describe('durations that no timer can hold', () => {
  it.each([
    'loadTimeout',
    'waitTimeout',
    'errorBackoff',
    'errorTtl',
    'outageTtl',
    'uncacheableFor',
    'negativeTtl',
    'staleIfError',
    'staleWhileRevalidate',
    'ttl',
  ] as const)('T045 T046 %s of 100 days runs no timer hot', async (option) => {
    const cache = onRealTime({ [option]: '100d' })
    expect(await cache.getOrLoad('a', () => soon(1))).toBe(1)
    expect(await cache.getOrLoad('b', () => soon(null))).toBe(null)
    await expect(cache.getOrLoad('c', () => soon(0).then(fail))).rejects.toThrow('x')
    await cache.getOrLoad('d', () => soon(() => 1))
    await cache.set('e', 1)
    await cache.expire('e')
    expect(await cache.peek('a')).toMatchObject({ state: 'fresh' })
    await cache.close()
    await soon(0)
    expect(warned).toEqual([])
  })
})

describe('a tier that is tiny', () => {
  it.each([{ maxBytes: '1B' }, { maxBytes: 300 }, { maxEntries: 1 }] as const)(
    'keeps what fits, and answers all: %o',
    async (memory) => {
      const cache = make({ memory })
      for (const key of ['a', 'b', 'a', 'b']) {
        expect(await cache.getOrLoad(key, () => key)).toBe(key)
      }
      await cache.set('c', 'set')
      await cache.expire('c')
      await cache.invalidate('c')
      expect(await cache.getOrLoad('c', () => 'loaded')).toBe('loaded')
    },
  )
})

describe('enabled: false', () => {
  it('keeps nothing, and still shares and freezes', async () => {
    const cache = make({ enabled: false, store: memoryStore() })
    let loads = 0
    const item = cache.define({ name: 'item', load: async (_: string) => ({ n: ++loads }) })
    const [one, two] = await Promise.all([item.get('a'), item.get('a')])
    expect(one).toBe(two)
    expect(Object.isFrozen(one)).toBe(true)
    expect(await item.lookup('a')).toMatchObject({ outcome: 'loaded', value: { n: 2 } })
    await item.set('a', { n: 9 })
    expect(await item.peek('a')).toEqual({ state: 'missing' })
    await item.invalidate('a')
    await item.expire('a')
    expect(await item.refresh('a')).toEqual({ n: 3 })
    expect(cache.health()).toMatchObject({ status: 'ok', store: 'none', bus: 'none' })
  })
})

describe('a caller that leaves', () => {
  it.each([null, 0, '', 'text', new Error('mine'), new DOMException('late', 'TimeoutError')])(
    'is given its own reason, %o, as it is',
    async (reason) => {
      const cache = make()
      const controller = new AbortController()
      const load = () => new Promise<string>(() => {})
      const got = cache.getOrLoad('a', load, { signal: controller.signal })
      const told = got.then(
        () => expect.unreachable(),
        (error: unknown) => [error],
      )
      controller.abort(reason)
      expect(await told).toEqual([reason])
    },
  )

  it('before it came is refused, whatever is there, and starts nothing', async () => {
    const cache = make()
    let loads = 0
    const item = cache.define({ name: 'item', load: (_: string) => ++loads })
    await item.set('kept', 5)
    const signal = AbortSignal.abort(new Error('before'))
    for (const key of ['kept', 'missing']) {
      for (const verb of ['get', 'lookup', 'refresh'] as const) {
        await expect(item[verb](key, { signal })).rejects.toThrow('before')
      }
    }
    expect(loads).toBe(0)
  })
})

describe('a loader', () => {
  // oxlint-disable-next-line unicorn/no-thenable
  const thenable = (then: unknown): object => Object.defineProperty({}, 'then', { value: then })

  it.each([
    ['a thenable', thenable((done: (value: number) => void) => done(5))],
    ['a promise of a promise', Promise.resolve(Promise.resolve(5))],
  ])('that gives %s is awaited', async (_, given) => {
    expect(await make().getOrLoad('a', () => given as never)).toBe(5)
  })

  it('that gives a thenable which throws has failed, and holds nothing', async () => {
    const cache = make()
    await expect(cache.getOrLoad('a', () => thenable(fail))).rejects.toThrow('x')
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
    expect(await cache.getOrLoad('a', () => 1)).toBe(1)
  })
})

describe('Dates under fake timers', () => {
  it('are kept as values', async () => {
    const real = new Date(5)
    vi.useFakeTimers()
    const cache = make()
    const value = await cache.getOrLoad('a', () => [real, new Date(6)])
    expect(value.map((date) => date.getTime())).toEqual([5, 6])
    vi.useRealTimers()
    expect((await cache.getOrLoad('a', () => value)).map(Number)).toEqual([5, 6])
  })
})
