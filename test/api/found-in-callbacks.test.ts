import { describe, expect, it } from 'vitest'
import { createCache, type BreakwaterError } from '../../src/index.ts'
import { json } from '../../src/codecs/json.ts'
import { manualClock } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

const make = (more: object = {}) =>
  createCache({ namespace: 'test', ttl: '60s', clock: manualClock(), ...more } as never)

describe('fallback', () => {
  it.each([new Error('mine'), 'text', new DOMException('t', 'TimeoutError')])(
    'does not stand in for the caller’s own abort (%s)',
    async (reason) => {
      const item = make().define<string, string>({
        name: 'a',
        load: () => new Promise(() => {}),
        fallback: () => 'fallback',
      })
      const controller = new AbortController()
      const got = item.get('a', { signal: controller.signal })
      controller.abort(reason)
      await expect(got).rejects.toBe(reason)
    },
  )
  it('stands in for an AbortError of the loader’s own', async () => {
    const item = make().define<string, string>({
      name: 'a',
      load: async () => {
        throw new DOMException('fetch aborted', 'AbortError')
      },
      fallback: () => 'fallback',
    })
    expect(await item.get('a')).toBe('fallback')
  })
  it('with isFailure that throws: the loader’s error, or the fallback, never the callback’s fault', async () => {
    const item = make().define<string, string>({
      name: 'a',
      load: () => {
        throw new Error('loader')
      },
      fallback: () => 'fallback',
      isFailure: () => {
        throw new Error('fault')
      },
    })
    expect(await item.get('a')).toBe('fallback')
  })
  it('that throws leaves the loader’s error', async () => {
    const cache = make()
    const faults: unknown[] = []
    cache.on('callbackFailed', (e) => faults.push(e.callback))
    const item = cache.define<string, string>({
      name: 'a',
      load: () => {
        throw new Error('loader')
      },
      fallback: () => {
        throw new Error('fault')
      },
    })
    await expect(item.get('a')).rejects.toThrow('loader')
    expect(faults).toEqual(['fallback'])
  })
  it('counts once: fallback, not failed', async () => {
    const cache = make()
    const item = cache.define<string, string>({
      name: 'a',
      load: () => {
        throw new Error('loader')
      },
      fallback: () => 'fallback',
    })
    await item.get('a')
    expect(cache.counters()['a']).toMatchObject({ fallback: 1, failed: 0 })
  })
  it('of an object with methods may use this, as load may', async () => {
    class Item {
      readonly name = 'a'
      readonly #empty = 'empty'
      load(_: string): string {
        throw new Error('loader ' + this.#empty)
      }
      fallback(): string {
        return this.#empty
      }
      isNegative(value: string): boolean {
        return value === this.#empty
      }
    }
    expect(await make().define<string, string>(new Item()).get('a')).toBe('empty')
  })
})
it('an async listener that rejects harms nobody', async () => {
  const unhandled: unknown[] = []
  const on = (e: unknown) => void unhandled.push(e)
  process.on('unhandledRejection', on)
  const cache = make()
  // As a user may write it, although the type says otherwise.
  const rejects = (): void => Promise.reject(new Error('async')) as never
  cache.on('answer', rejects)
  await cache.getOrLoad('a', () => 1)
  await new Promise((r) => setTimeout(r, 20))
  process.off('unhandledRejection', on)
  expect(unhandled).toEqual([])
})
it('an async waitUntil that rejects harms nobody', async () => {
  const unhandled: unknown[] = []
  const on = (e: unknown) => void unhandled.push(e)
  process.on('unhandledRejection', on)
  const clock = manualClock()
  const cache = make({
    clock,
    staleWhileRevalidate: '1h',
    waitUntil: async () => {
      throw new Error('async')
    },
  })
  await cache.getOrLoad('a', () => 1)
  await clock.advance('61s')
  await cache.getOrLoad('a', () => 1)
  await new Promise((r) => setTimeout(r, 20))
  process.off('unhandledRejection', on)
  expect(unhandled).toEqual([])
})
describe('errors', () => {
  it.each(['name', 'code'])(
    'whose %s throws is the callers’ own, and reaches those elsewhere',
    async (property) => {
      const { clock, process } = world()
      const error = Object.defineProperty(new Error('hostile'), property, {
        get() {
          throw new Error('getter')
        },
      })
      const [a, b] = [await process(), await process()]
      let loads = 0
      const load = () => (
        loads++,
        new Promise<string>((_, reject) => clock.after(50, () => reject(error)))
      )
      const got = [
        a.define({ name: 'i', load: (_: string) => load() }),
        b.define({ name: 'i', load: (_: string) => load() }),
      ].map((i) => i.get('x'))
      const settled = Promise.allSettled(got)
      await clock.advance(500)
      const at500 = loads
      await clock.advance('2m')
      const reasons = (await settled).map((r) => (r as PromiseRejectedResult).reason as unknown)
      expect.soft(at500).toBe(1)
      expect.soft(reasons[0]).toBe(error)
      expect.soft(reasons[1]).toMatchObject({ code: 'LOAD_FAILED_ELSEWHERE' })
    },
  )
})
describe('ctx.ttl', () => {
  it.each([0, '0s'])('of %s shares the result and stores nothing (T043)', async (ttl) => {
    const cache = make()
    let loads = 0
    const load = (_: string, ctx: { ttl(t: never): void }) => {
      ctx.ttl(ttl as never)
      return ++loads
    }
    const item = cache.define({ name: 'a', load: load as (s: string) => number })
    expect(await item.get('a')).toBe(1)
    expect(await item.get('a')).toBe(2)
  })
})
describe('one key, two codecs', () => {
  it('clone with json, then peek with the cache’s own', async () => {
    const cache = make()
    await cache.getOrLoad('a', () => ({ n: 1 }), { values: 'clone', codec: json() })
    expect(await cache.peek('a')).toMatchObject({ value: { n: 1 } })
  })
  it('two callers that join one load with different codecs', async () => {
    const cache = make()
    const load = async () => ({ n: [1] })
    const got = [
      cache.getOrLoad('a', load, { values: 'clone', codec: json() }),
      cache.getOrLoad('a', load, { values: 'clone' }),
    ]
    expect(await Promise.all(got)).toEqual([{ n: [1] }, { n: [1] }])
  })
  it('one-off loaded as freeze, asked for as clone', async () => {
    const cache = make()
    await cache.getOrLoad('a', () => ({ n: 1 }))
    const cloned = await cache.getOrLoad('a', () => ({ n: 1 }), { values: 'clone' })
    expect(Object.isFrozen(cloned)).toBe(false)
  })
})
it('text over maxBytes is not stored in memory either', async () => {
  const cache = make({ maxBytes: '1KiB' })
  await cache.getOrLoad('a', () => 'x'.repeat(5000))
  expect(await cache.peek('a')).toEqual({ state: 'missing' })
})
it('meta given by peek is nobody else’s to change', async () => {
  const cache = make()
  await cache.getOrLoad('a', (ctx) => {
    ctx.meta({ etag: ['x'] })
    return 1
  })
  const first = await cache.peek('a')
  try {
    ;(first as { meta: { etag: string[] } }).meta.etag.push('changed')
  } catch {}
  expect(await cache.peek('a')).toMatchObject({ meta: { etag: ['x'] } })
})
it('plain objects inside a Map are frozen too', async () => {
  const cache = make()
  const value = await cache.getOrLoad('a', () => new Map([['k', { n: 1 }]]))
  expect(Object.isFrozen(value.get('k'))).toBe(true)
})
describe('key of errors', () => {
  it('STORE_UNAVAILABLE of a write names it', async () => {
    const { clock, faulty } = world()
    const { cache, link } = await faulty()
    link.fail()
    const item = cache.define<string, number>({ name: 'i', load: () => 1 })
    for (const run of [item.set('a', 1), item.invalidate('a'), item.expire('a')]) {
      const error = await run.then(
        () => undefined,
        (e: unknown) => e,
      )
      expect.soft(error).toMatchObject({ code: 'STORE_UNAVAILABLE', key: item.key('a') })
    }
    void clock
  })
  it('WAIT_TIMEOUT while the store is asked names it', async () => {
    const { clock, faulty } = world()
    const { cache, link } = await faulty({ storeTimeout: '10s' })
    link.hang()
    const item = cache.define<string, number>({ name: 'i', load: () => 1 })
    const got = item.get('a', { timeout: '1s' }).then(
      () => undefined,
      (e: unknown) => e,
    )
    await clock.advance('2s')
    expect(await got).toMatchObject({ code: 'WAIT_TIMEOUT', key: item.key('a') })
  })
  it('the message of WAIT_TIMEOUT says what was asked for', async () => {
    const cache = createCache({ namespace: 'test', ttl: '60s' })
    const error = await cache
      .getOrLoad('a', () => new Promise(() => {}), { timeout: '20ms' })
      .catch((e: unknown) => e as BreakwaterError)
    expect((error as Error).message).toContain('20 ms')
    await cache.close({ timeout: 1 })
  })
})
it('counts an unstorable set', async () => {
  const cache = make()
  const item = cache.define<string, unknown>({ name: 'i', load: () => 1 })
  await item.set('a', () => 1).catch(() => {})
  expect(cache.counters()['i']!.unstorable).toBe(1)
})
it('counts invalidations', async () => {
  const cache = make()
  const item = cache.define<string, unknown>({ name: 'i', load: () => 1 })
  await item.invalidate('a')
  await item.set('a', 1)
  expect(cache.counters()['i']!.invalidated).toBeGreaterThan(0)
})
it('counters given out cannot be changed', async () => {
  const cache = make()
  const counters = cache.counters() as Record<string, Record<string, number>>
  try {
    counters['']!['hitMemory'] = 500
  } catch {}
  expect(cache.counters()['']!.hitMemory).toBe(0)
})
it('bad call options are not counted as failures of the source', async () => {
  const cache = make()
  const item = cache.define<string, unknown>({ name: 'i', load: () => 1 })
  await item.refresh('a', { timeuot: 1 } as never).catch(() => {})
  expect(cache.counters()['i']).toMatchObject({ failed: 0 })
})
it('set whose isNegative throws', async () => {
  const cache = make()
  const item = cache.define<string, unknown>({
    name: 'i',
    load: () => 1,
    isNegative: (v) => {
      if (v === 2) throw new Error('fault')
      return false
    },
  })
  await item.set('a', 1)
  const error = await item.set('a', 2).then(
    () => 'resolved',
    (e: unknown) => e,
  )
  expect.soft(error).toBe('resolved')
  expect.soft(await item.peek('a')).toEqual({ state: 'missing' })
})
