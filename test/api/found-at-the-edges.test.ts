import { afterEach, describe, expect, it, vi } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore, faultyStore } from '../../src/testing/index.ts'
import { fromWire } from '../../src/cache/wire-error.ts'

const make = (more: object = {}) =>
  createCache({ namespace: 'test', ttl: '60s', clock: manualClock(), ...more } as never)
afterEach(() => void vi.useRealTimers())

it('one signal for 100 calls warns of nothing (T157)', async () => {
  const warned: unknown[] = []
  const on = (w: Error) => void warned.push(w.message)
  process.on('warning', on)
  const clock = manualClock()
  const cache = make({ clock, store: memoryStore() })
  const { signal } = new AbortController()
  const item = cache.define({
    name: 'i',
    load: (n: number) => new Promise<number>((r) => clock.after(10, () => r(n))),
  })
  const got = Array.from({ length: 100 }, (_, n) => item.get(n % 7, { signal, timeout: '1s' }))
  await clock.advance(100)
  await Promise.all(got)
  await new Promise((r) => setTimeout(r, 10))
  process.off('warning', on)
  expect(warned).toEqual([])
})
it.each(['null', '5', '"x"', '[]', '{', '', '{"name":{}}', '{"wire":1}'])(
  'fromWire of %s is an error',
  (text) => {
    for (const errors of [undefined, { toWire: () => 1, fromWire: () => new Error('mine') }]) {
      const error = fromWire(text, { errors } as never, 'k', () => {})
      expect(error).toBeInstanceOf(Error)
    }
  },
)
describe('Dates under fake timers', () => {
  it('a real Date as an argument while timers are faked', async () => {
    const real = new Date(5)
    vi.useFakeTimers()
    const item = make().define({ name: 'i', load: (d: Date) => d.getTime() })
    expect(await item.get(real)).toBe(5)
    expect(await item.get(new Date(5))).toBe(5)
  })
  it('a fake Date as an argument after real timers are back', async () => {
    vi.useFakeTimers()
    const fake = new Date(5)
    vi.useRealTimers()
    const item = make().define({ name: 'i', load: (d: Date) => d.getTime() })
    expect(await item.get(fake)).toBe(5)
  })
  it('as values', async () => {
    const real = new Date(5)
    vi.useFakeTimers()
    const cache = make()
    const v = await cache.getOrLoad('a', () => [real, new Date(6)])
    expect(v).toStrictEqual([real, new Date(6)])
    vi.useRealTimers()
    expect(await cache.getOrLoad('a', () => [])).toEqual([new Date(5), new Date(6)])
  })
})
describe('testing API', () => {
  it.each([NaN, Infinity, 'soon'])('manualClock(%s) is refused', (now) => {
    expect(() => manualClock(now as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
  it('manualClock(invalid Date)', () => {
    expect(() => manualClock(new Date(NaN))).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
  it.each([NaN, -1, 'soon'])('faultyStore delay(%s) is refused', (ms) => {
    expect(() => faultyStore(memoryStore()).delay(ms as never)).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTION' }),
    )
  })
})
it('getOrLoad with inherited options', async () => {
  const clock = manualClock()
  const cache = make({ clock })
  await cache.getOrLoad('a', () => 1, Object.create({ ttl: '1s' }) as object)
  await clock.advance('2s')
  expect(await cache.peek('a')).toEqual({ state: 'missing' })
})
