import { describe, expect, it, vi } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

const make = (more: object = {}) => createCache({ namespace: 'test', ttl: '60s', ...more } as never)

describe('bad input', () => {
  it('options that are inherited count as given', async () => {
    class Config {
      get namespace() {
        return 'test'
      }
      get ttl() {
        return '60s' as const
      }
    }
    let loads = 0
    const cache = createCache(new Config())
    await cache.getOrLoad('a', () => ++loads)
    await cache.getOrLoad('a', () => ++loads)
    expect(loads).toBe(1)
  })
  it('getOrLoad refuses options that are null', async () => {
    await expect(make().getOrLoad('a', () => 1, null as never)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
    })
  })
  it.each([null, 5, 'x', { timeout: NaN }, { timeout: 'soon' }, { timeOut: 5 }])(
    'close refuses %o by a rejection',
    async (how) => {
      const cache = make()
      let closing!: Promise<void>
      expect(() => {
        closing = cache.close(how as never)
      }).not.toThrow()
      await expect(closing).rejects.toMatchObject({ code: 'INVALID_OPTION' })
      expect(cache.health().status).toBe('ok')
    },
  )
  it('close takes a timeout of 0', async () => {
    await make().close({ timeout: 0 })
  })
  it.each([
    ['answered', () => {}],
    ['answer', undefined],
    ['answer', 'x'],
    ['toString', () => {}],
  ])('on refuses %s with %o', (event, listener) => {
    expect(() => make().on(event as never, listener as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
  it.each([undefined, null, 5, 'ab', {}])('getMany and the like refuse %o', async (args) => {
    const cache = make()
    const item = cache.define({ name: 'a', load: (n: number) => n })
    for (const run of [
      () => item.getMany(args as never),
      () => item.getManySettled(args as never),
      () => item.invalidateMany(args as never),
      () => item.expireMany(args as never),
      () => cache.invalidateMany(args as never),
      () => cache.expireMany(args as never),
    ]) {
      const error = await run().then(
        () => undefined,
        (e: unknown) => e,
      )
      expect
        .soft(error)
        .toMatchObject({ code: expect.stringMatching(/INVALID_KEY|INVALID_OPTION/) })
    }
  })
  it.each([5e6, 2 ** 32, Number.MAX_SAFE_INTEGER])(
    'memory.maxEntries of %d is no memory taken',
    (maxEntries) => {
      const before = process.memoryUsage().rss
      make({ memory: { maxEntries } })
      expect(process.memoryUsage().rss - before).toBeLessThan(50e6)
    },
  )
  it('maxBytes huge', async () => {
    const cache = make({ memory: { maxBytes: Number.MAX_SAFE_INTEGER } })
    expect(await cache.getOrLoad('a', () => 1)).toBe(1)
  })
})

describe('durations over 2^31 (T045, T046)', () => {
  it.each([2 ** 31, 2 ** 40, '60d'])('timeout %s of a call is not 1 ms', async (timeout) => {
    const cache = make()
    const item = cache.define({
      name: 'a',
      load: (n: number) => new Promise<number>((r) => setTimeout(r, 50, n)),
    })
    expect(await item.get(1, { timeout } as never)).toBe(1)
  })
  it('a queue of 60 days', async () => {
    const cache = make({ limit: { concurrency: 1, queue: '60d' } })
    const item = cache.define({
      name: 'a',
      load: (n: number) => new Promise<number>((r) => setTimeout(r, 50, n)),
    })
    expect(await item.getMany([1, 2])).toEqual([1, 2])
  })
  it.each([
    'connectTimeout',
    'storeTimeout',
    'lease',
    'loadTimeout',
    'waitTimeout',
    'errorBackoff',
    'outageTtl',
    'uncacheableFor',
  ])('%s of 100 days sets no timer that overflows', async (option) => {
    const warned: unknown[] = []
    const onWarning = (w: Error) => warned.push(w.name)
    process.on('warning', onWarning)
    const cache = make({ store: memoryStore(), [option]: '100d' })
    const item = cache.define({
      name: 'a',
      load: (n: number) => new Promise<number>((r) => setTimeout(r, 50, n)),
    })
    expect(await item.get(1)).toBe(1)
    await cache.close()
    await new Promise((r) => setTimeout(r, 10))
    process.off('warning', onWarning)
    expect(warned).toEqual([])
  })
  it('a close of 60 days drains', async () => {
    const cache = make()
    const item = cache.define({
      name: 'a',
      load: (n: number) => new Promise<number>((r) => setTimeout(r, 50, n)),
    })
    const got = item.get(1)
    await cache.close({ timeout: '60d' })
    expect(await got).toBe(1)
  })
})

describe('manualClock', () => {
  it.each([NaN, -1, Infinity])('advance(%d) is refused', async (by) => {
    const clock = manualClock()
    await expect(clock.advance(by)).rejects.toMatchObject({ code: 'INVALID_OPTION' })
  })
})
describe('others', () => {
  it('peek sees what another process has refreshed', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    let n = 0
    const load = () => ++n
    await a.getOrLoad('k', load)
    await clock.advance('61s')
    await b.getOrLoad('k', load)
    expect(n).toBe(2)
    expect(await a.peek('k')).toMatchObject({ state: 'fresh', value: 2 })
  })
  it('nothing in memory is served after close', async () => {
    const clock = manualClock()
    const cache = make({ clock })
    const item = cache.define({
      name: 'a',
      load: (n: number) => new Promise<number>((r) => clock.after(50, () => r(n))),
    })
    const got = item.get(1)
    const closing = cache.close()
    await clock.advance(100)
    expect(await got).toBe(1)
    await clock.advance('1m')
    await closing
    await expect(item.get(1)).rejects.toMatchObject({ code: 'CLOSED' })
  })
})
void vi
