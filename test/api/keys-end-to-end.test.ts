// Two different arguments never share a value, equal ones always do: through the whole cache, with
// a store, so that memory, store and flights all have to tell them apart (T126, T127, T129, T130).

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'

const awkward = [
  '', ' ', 'null', 'undefined', 'true', '1', '#1', "'#1", '~', '~null', '~[1]', '[1]', '{"a":1}', '1n', '-0',
  '__proto__', 'constructor', 'toString', 'hasOwnProperty', '{}', '{a}', '}{', '%7B', '%257B', '\n', '\r\n',
  '\0', ':', '::', 'a:b', 'r:a:', 'k:', '@1', '\ud800', '\udc00', '\ud800a', '\ufffd', '😀', 'é', 'e\u0301',
  '~h:', `~h:${'a'.repeat(43)}`, 'x'.repeat(511), 'x'.repeat(512), 'x'.repeat(513), 'é'.repeat(300),
] // prettier-ignore

const scalar = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...awkward) },
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ maxLength: 5 }),
  fc.integer({ min: -3, max: 3 }),
  fc.double({ noNaN: true }),
  fc.bigInt({ min: -3n, max: 3n }),
  fc.boolean(),
  fc.constantFrom(null, undefined),
  fc.date({ noInvalidDate: true }),
)
const names = fc.constantFrom('a', 'b', '__proto__', 'toString', '0', '')
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'small' },
    scalar,
    fc.array(tie('tree'), { maxLength: 3 }),
    fc.dictionary(names, tie('tree'), { maxKeys: 3, noNullPrototype: true }),
  ),
}))

/** What the design calls the same argument: order and `undefined` properties do not matter, -0 is 0. */
function plain(value: unknown): unknown {
  if (value === 0) return 0
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const own = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return new Map(
    own.sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, inner]) => [name, plain(inner)]),
  )
}

function shuffled(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(shuffled)
  if (typeof value !== 'object' || value === null || value instanceof Date) return value
  const copy = {}
  for (const [name, inner] of Object.entries(value).reverse()) {
    const property = {
      value: shuffled(inner),
      enumerable: true,
      configurable: true,
      writable: true,
    }
    Object.defineProperty(copy, name, property)
  }
  return copy
}

describe('arguments', () => {
  it('T127 T130 that differ never share a value, and equal ones do', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    let loads = 0
    const load = (_: unknown) => ++loads
    const items = [a, b].map((cache) => cache.define<unknown, number>({ name: 'item', load }))
    const ask = items.map((item) => item.get as (arg: unknown) => Promise<number>)
    await fc.assert(
      fc.asyncProperty(tree, tree, async (one, two) => {
        const results = [ask[0]!(one), ask[1]!(two), ask[1]!(shuffled(one))]
        await clock.advance(1)
        const [ofOne, ofTwo, again] = await Promise.all(results)
        expect(again).toBe(ofOne)
        expect(ofOne === ofTwo).toBe(isDeepStrictEqual(plain(one), plain(two)))
      }),
      { numRuns: 400 },
    )
  })

  it('T126 that are awkward texts are plain keys everywhere, one-off and of resources', async () => {
    const { clock, process } = world()
    const [a, b] = [await process(), await process()]
    const values = new Map<string, string>()
    const names = [...awkward, 'x'.repeat(1_000_000), `${'x'.repeat(1_000_000)}y`]
    for (const cache of [a, b]) {
      const kinds = ['item', 'ite', 'item:', 'item@1'].map((name) =>
        cache.define({ name, load: async (key: string) => `${name}|${key}` }),
      )
      const versioned = cache.define({
        name: 'version',
        version: 1,
        load: async (key: string) => `version1|${key}`,
      })
      for (const key of names) {
        const asked = [
          cache.getOrLoad(key, () => `one-off|${key}`),
          versioned.get(key),
          ...kinds.map((item) => item.get(key)),
        ]
        await clock.advance(1)
        const got = await Promise.all(asked)
        expect(got).toEqual([
          `one-off|${key}`,
          `version1|${key}`,
          ...kinds.map((item) => `${item.name}|${key}`),
        ])
        for (const value of got) values.set(value, value)
      }
    }
    expect(values.size).toBe(names.length * 6)
    expect(Object.keys({})).toEqual([])
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })

  it('one-off keys that look like those of resources reach none of them', async () => {
    const { clock, process } = world()
    const cache = await process()
    const item = cache.define({ name: 'item', load: async (id: string) => `resource ${id}` })
    const got = item.get('a')
    await clock.advance(1)
    await got
    for (const key of [item.key('a'), 'item:a', 'r:item:a', 'a']) {
      expect(await cache.peek(key)).toEqual({ state: 'missing' })
      await cache.invalidate(key)
    }
    expect(await item.peek('a')).toMatchObject({ state: 'fresh' })
  })

  it('one version never sees the entries of another', async () => {
    const { clock, process } = world()
    const caches = [await process(), await process(), await process(), await process()]
    const versions = [undefined, 1, 2, '1:x']
    for (const [n, cache] of caches.entries()) {
      const item = cache.define({ name: 'item', version: versions[n], load: (_: string) => n })
      const got = item.get('a')
      await clock.advance(1)
      expect(await got).toBe(n)
    }
  })

  it('the loader’s key, the event’s and resource.key are one', async () => {
    const cache = createCache({ namespace: 'test', ttl: '60s' })
    const seen: string[] = []
    cache.on('answer', ({ key }) => seen.push(key))
    cache.on('load', ({ key }) => seen.push(key))
    const item = cache.define({
      name: 'item',
      load: async (_: { id: number }, { key }) => void seen.push(key),
    })
    await item.get({ id: 1 })
    expect(new Set(seen)).toEqual(new Set([item.key({ id: 1 })]))
    expect(seen).toHaveLength(3)
    expect(item.key({ id: 1 })).toContain('item')
  })
})

describe('what is no key', () => {
  class Product {
    readonly id = 1
  }
  const circular: unknown[] = []
  circular.push(circular)
  const bad: [string, unknown][] = [
    ['NaN', NaN],
    ['NaN inside', { a: [NaN] }],
    ['a function', () => 1],
    ['a symbol', Symbol('a')],
    ['a symbol inside', [Symbol('a')]],
    ['a class instance', new Product()],
    ['a Map', new Map([['a', 1]])],
    ['a Set inside', { tags: new Set() }],
    ['a Buffer', Buffer.from('a')],
    ['a RegExp', /a/],
    ['an Error', new Error('a')],
    ['a promise', Promise.resolve(1)],
    ['an invalid Date', new Date(NaN)],
    ['a cycle', circular],
    ['a getter that throws', Object.defineProperty({}, 'a', { enumerable: true, get: () => { throw new Error('x') } })], // prettier-ignore
    ['a revoked proxy', revoked()],
  ]
  it.each(bad)('%s rejects with INVALID_KEY, and nothing is half done', async (_, arg) => {
    const cache = createCache({ namespace: 'test', ttl: '60s' })
    let loads = 0
    const item = cache.define<unknown, number>({ name: 'item', load: () => ++loads })
    const of = item as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>
    const calls = [
      ...['get', 'lookup', 'refresh', 'peek', 'invalidate', 'expire'].map((verb) => [verb, arg]),
      ['set', arg, 1],
      ['getMany', [arg]],
      ['invalidateMany', ['good', arg]],
      ['expireMany', ['good', arg]],
    ] as [string, ...unknown[]][]
    await item.set('good' as never, 5)
    for (const [verb, ...given] of calls) {
      const call = of[verb]!(...given) // never throws synchronously
      await expect(call).rejects.toMatchObject({
        name: 'BreakwaterError',
        code: 'INVALID_KEY',
        message: expect.stringMatching(/expected .* got .*; give/s) as string,
      })
    }
    expect(await item.peek('good' as never)).toMatchObject({ state: 'fresh', value: 5 })
    expect(await of['getManySettled']!([arg])).toMatchObject([{ status: 'rejected' }])
    expect(() => item.key(arg as never)).toThrow(expect.objectContaining({ code: 'INVALID_KEY' }))
    expect(loads).toBe(0)
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  })

  it.each([5, null, undefined, {}, ['a'], Symbol('a'), 5n])(
    'a one-off key that is %o rejects with INVALID_KEY',
    async (key) => {
      const cache = createCache({ namespace: 'test', ttl: '60s' })
      const of = cache as unknown as Record<string, (...given: unknown[]) => Promise<unknown>>
      let loads = 0
      for (const [verb, ...given] of [
        ['getOrLoad', key, () => ++loads],
        ['peek', key],
        ['set', key, 1],
        ['invalidate', key],
        ['expire', key],
        ['invalidateMany', [key]],
        ['expireMany', ['a', key]],
      ] as [string, ...unknown[]][]) {
        await expect(of[verb]!(...given)).rejects.toMatchObject({ code: 'INVALID_KEY' })
      }
      expect(loads).toBe(0)
    },
  )
})

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {})
  revoke()
  return proxy
}
