// A value that cannot be kept answers its callers as it is, is stored nowhere, makes the key
// uncacheable for a while, and is told of with its path (T120).

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

const cycle = () => {
  const value: { name: string; self?: unknown } = { name: 'a' }
  value.self = value
  return value
}
const hostile = () => ({
  get name(): string {
    throw new Error('getter')
  },
})
const cases = [
  { what: 'a function', make: () => ({ author: { save: () => 1 } }), path: '$.author.save: function' }, // prettier-ignore
  { what: 'a cycle', make: cycle, path: '$.self: cycle' },
  { what: 'a symbol', make: () => [Symbol('s')], path: '$[0]: symbol' },
  { what: 'a promise', make: () => ({ rows: Promise.resolve(1) }), path: '$.rows: Promise' },
  { what: 'a WeakMap', make: () => new Map([['m', new WeakMap()]]), path: '$.get("m"): WeakMap' },
  { what: 'a getter that throws', make: hostile, path: '$.name: threw while it was read (getter)' },
  { what: 'toJSON that throws', make: () => ({ toJSON: () => { throw new Error('no') } }), path: 'threw while it was read (no)' }, // prettier-ignore
  {
    what: 'too many bytes',
    make: () => 'x'.repeat(2_000).split('x'),
    path: 'over maxBytes (1024)',
  },
]

describe.each(['memory only', 'with a store', 'store only'] as const)('%s', (tier) => {
  const open = async () => {
    const options = { maxBytes: '1KiB', uncacheableFor: '5s' } as const
    if (tier === 'memory only') {
      const clock = manualClock()
      return { clock, cache: createCache({ namespace: 'test', ttl: '60s', clock, ...options }) }
    }
    const { clock, process } = world()
    const memory = tier === 'store only' ? { memory: false as const } : {}
    return { clock, cache: await process({ ...options, ...memory }) }
  }

  it.each(cases)('$what is answered as it is, not stored, and told of', async ({ make, path }) => {
    const { clock, cache } = await open()
    const told: unknown[] = []
    cache.on('unstorable', (event) => told.push(event))
    const given = make()
    let loads = 0
    const item = cache.define<string, object>({ name: 'item', load: () => (loads++, given) })
    const got = item.get('a')
    await clock.advance(5)
    expect(await got).toBe(given)
    expect(Object.isFrozen(given)).toBe(false)
    expect(told).toEqual([
      { name: 'item', key: item.key('a'), path: expect.stringContaining(path) as string },
    ])
    expect(cache.counters()['item']).toMatchObject({ unstorable: 1, loaded: 1, failed: 0 })
    expect(await item.peek('a')).toEqual({ state: 'missing' })
    expect(await item.get('a')).toBe(given)
    expect(loads).toBe(2)
    // Later the key is tried as any other.
    await clock.advance('6s')
    const again = item.get('a')
    await clock.advance(5)
    expect(await again).toBe(given)
    await cache.idle()
  })

  it.each(cases)('$what that is set rejects, and changes nothing', async ({ make, path }) => {
    const { clock, cache } = await open()
    const item = cache.define<string, unknown>({ name: 'item', load: () => 'loaded' })
    await item.set('a', 'before')
    await clock.advance(5)
    const told: unknown[] = []
    cache.on('unstorable', (event) => told.push(event.path))
    await expect(item.set('a', make())).rejects.toMatchObject({
      name: 'BreakwaterError',
      code: 'UNSTORABLE',
      key: item.key('a'),
      message: expect.stringContaining(path) as string,
    })
    expect(told).toHaveLength(1)
    expect(await item.get('a')).toBe('before')
  })

  it('who joined shares the load; callers of the uncacheable key then load side by side', async () => {
    const { clock, cache } = await open()
    let loads = 0
    const item = cache.define<string, object>({
      name: 'item',
      load: () => new Promise((resolve) => clock.after(100, () => resolve([loads++, () => 1]))),
    })
    const callers = Array.from({ length: 20 }, () => item.get('a'))
    await clock.advance(200)
    expect(new Set(await Promise.all(callers)).size).toBe(1)
    const later = Array.from({ length: 20 }, () => item.get('a'))
    await clock.advance(200)
    await Promise.all(later)
    // Hit-for-miss: nobody queues behind a load whose value is not kept, and none is limited by it.
    expect(loads).toBe(21)
  })
})

describe('across processes', () => {
  it('nobody waits for a value that cannot come', async () => {
    const { clock, process } = world()
    const items = (await Promise.all([process(), process(), process()])).map((cache, n) =>
      cache.define<string, { n: number }>({
        name: 'item',
        load: () =>
          new Promise((resolve) => clock.after(100, () => resolve({ n, run: () => n } as never))),
      }),
    )
    const callers = items.map((item) => item.get('a'))
    await clock.advance(400)
    const values = await Promise.all(callers)
    expect(new Set(values.map(({ n }) => n))).toEqual(new Set([0, 1, 2]))
    // Side by side now: one load each, at the same time.
    const again = items.map((item) => item.get('a'))
    await clock.advance(150)
    expect((await Promise.all(again)).map(({ n }) => n)).toEqual([0, 1, 2])
  })

  it('what one process can store again is cacheable for all once the mark has ended', async () => {
    const { clock, process } = world()
    let value: unknown = () => 1
    let loads = 0
    const items = (await Promise.all([process(), process()])).map((cache) =>
      cache.define<string, unknown>({ name: 'item', load: () => (loads++, value) }),
    )
    await Promise.all([items[0]!.get('a'), clock.advance(5)])
    value = { n: 1 }
    await Promise.all([items[1]!.get('a'), clock.advance(5)])
    expect(loads).toBe(2)
    await clock.advance('5s')
    await Promise.all([items[1]!.get('a'), clock.advance(5)])
    expect(loads).toBe(3)
    expect(await items[0]!.get('a')).toEqual({ n: 1 })
    expect(loads).toBe(3)
  })
})
