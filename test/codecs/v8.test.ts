import { execFileSync } from 'node:child_process'
import { serialize } from 'node:v8'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { v8Codec } from '../../src/codecs/v8.ts'
import { approximateSize } from '../../src/core/approximate-size.ts'
import { deepFreeze } from '../../src/core/freeze.ts'
import { Unstorable } from '../../src/core/unstorable.ts'
import { createCache } from '../../src/index.ts'
import { v8 } from '../../src/codecs/v8.ts'
import { anyValue } from '../support/any-value.ts'

const copyOf = (value: unknown): unknown => v8Codec.decode(v8Codec.encode(value))

interface Ring {
  name: string
  self?: Ring
  list: unknown[]
  map?: Map<unknown, unknown>
  set?: Set<unknown>
}

function ring(): Ring {
  const one: Ring = { name: 'one', list: [] }
  one.self = one
  one.map = new Map<unknown, unknown>([['ring', one]])
  one.map.set('map', one.map)
  one.set = new Set<unknown>([one])
  one.set.add(one.set)
  one.list.push(one, one.list)
  return one
}

describe('v8 keeps', () => {
  test('cycles, and what is referred to twice', () => {
    const copy = copyOf(ring()) as Ring
    expect(copy.self).toBe(copy)
    expect(copy.list).toEqual([copy, copy.list])
    expect(copy.map!.get('ring')).toBe(copy)
    expect(copy.map!.get('map')).toBe(copy.map)
    expect(copy.set!.has(copy) && copy.set!.has(copy.set)).toBe(true)
    const shared = { a: 1 }
    const [left, right] = copyOf([shared, shared]) as object[]
    expect(left).toBe(right)
  })

  test('anything', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(copyOf(value)).toStrictEqual(value)
      }),
      { numRuns: 1_000 },
    )
  })

  test('bytes and typed arrays in memory of their own (T112)', () => {
    const shared = new ArrayBuffer(64)
    const value = {
      body: Buffer.from('the body'),
      floats: Float64Array.of(0.1, -0),
      part: new Uint8Array(shared, 4, 2).fill(5),
      view: new DataView(shared, 3, 4),
      all: Uint8Array.of(1, 2, 3).buffer,
      big: BigInt64Array.of(-5n),
    }
    const payload = Buffer.from(v8Codec.encode(value))
    const copy = v8Codec.decode(payload) as typeof value
    payload.fill(0)
    expect(copy).toStrictEqual(value)
    const { body, floats, part, view, big } = copy
    expect([floats, part, view, big].map((one) => one.buffer.byteLength)).toEqual([16, 2, 4, 8])
    expect(body.buffer.byteLength).toBe(8)
  })

  test('an error of a built-in class: message, stack and cause', () => {
    const error = new TypeError('no', { cause: { why: new RangeError('far') } })
    const copy = copyOf({ error }) as { error: TypeError & { cause: { why: Error } } }
    expect(copy.error).toBeInstanceOf(TypeError)
    expect([copy.error.message, copy.error.stack]).toEqual([error.message, error.stack])
    expect(copy.error.cause.why).toBeInstanceOf(RangeError)
  })
})

describe('v8 refuses what it would change without a word (T120)', () => {
  class Hidden {
    readonly #value = 1
    read(): number {
      return this.#value
    }
  }
  const coded = Object.assign(new Error('x'), { code: 'ENOENT' })
  const named = Object.assign(new Error('x'))
  named.name = 'NotFound'
  const throwing = {
    get token(): string {
      throw new Error('no token')
    },
  }

  test.each([
    { given: () => 1, said: '$: function' },
    { given: { author: { save() {} } }, said: '$.author.save: function' },
    { given: [1, { 'on-it': Symbol('s') }], said: '$[1]["on-it"]: symbol' },
    { given: { [Symbol('mark')]: 1 }, said: '$["Symbol(mark)"]: symbol' },
    { given: { at: new URL('http://a/b') }, said: '$.at: URL without data' },
    { given: { when: Promise.resolve(1) }, said: '$.when: Promise without data' },
    { given: { h: new Hidden() }, said: '$.h: Hidden without data' },
    { given: [new Response('x')], said: '$[0]: Response without data' },
    { given: new Headers({ a: 'b' }), said: '$: Headers without data' },
    { given: new WeakMap(), said: '$: WeakMap without data' },
    { given: { error: coded }, said: '$.error.code: property of an error' },
    { given: { error: named }, said: '$.error: error of the name "NotFound"' },
    { given: new AggregateError([1], 'all'), said: '$: AggregateError' },
    { given: new Error('x', { cause: () => 1 }), said: '$.cause: function' },
    { given: { a: throwing }, said: '$.a.token: threw while it was read (no token)' },
    { given: new Map([['k', [() => 1]]]), said: '$.get("k")[0]: function' },
    { given: new Map([[() => 1, 'v']]), said: '$.keys()[0]: function' },
    { given: { s: new Set([1, () => 1]) }, said: '$.s.values()[1]: function' },
    { given: { p: new Proxy({ a: 1 }, {}) }, said: '$.p: Proxy' },
    { given: { m: new SharedArrayBuffer(4) }, said: /^\$\.m: |^\$: / },
    { given: Object.assign([1], { extra: () => 1 }), said: '$.extra: function' },
    { given: Array.from({ length: 5_000 }).reduce((inner) => [inner], 1), said: /levels$/ },
  ])('$said', ({ given, said }) => {
    try {
      v8Codec.encode(given)
    } catch (error) {
      expect(error).toBeInstanceOf(Unstorable)
      expect((error as Unstorable).message).toMatch(said)
      return
    }
    expect.unreachable('it was encoded')
  })
})

describe('v8 as bytes', () => {
  test('of another making throw (T114)', () => {
    const real = Buffer.from(v8Codec.encode(ring()))
    const others = [serialize(ring()), Buffer.alloc(0), Buffer.from([1]), real.subarray(0, 9)]
    for (const bytes of others) expect(() => v8Codec.decode(bytes)).toThrow(Error)
    for (let i = 0; i < real.length; i++) {
      const changed = Buffer.from(real)
      changed[i]! ^= 1 << (i % 8)
      expect(() => v8Codec.decode(changed)).toThrow('malformed v8 payload')
    }
  })

  test('pollute nothing (T126)', () => {
    const copy = copyOf(JSON.parse('{"__proto__":{"admin":true},"constructor":{"a":1}}')) as object
    expect(Object.keys(copy)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
  })

  // What the warning in the docs speaks of: past the checksum, V8 is alone with what it reads.
  test('that are hostile and have a right checksum do not end the process, as far as tried', () => {
    const out = execFileSync(process.execPath, ['test/workers/hostile-v8.mjs'], {
      encoding: 'utf8',
      timeout: 60_000,
    })
    expect(JSON.parse(out)).toMatchObject({ tried: 100_000, polluted: false })
  })
})

test('freezing and weighing end where Maps and Sets contain themselves', () => {
  const value = ring()
  expect(deepFreeze(value)).toBe(value)
  expect([value, value.list].every((part) => Object.isFrozen(part))).toBe(true)
  expect(approximateSize(value)).toBeGreaterThan(0)
})

test('a cache keeps a cycle by it, and callers share one frozen copy', async () => {
  const cache = createCache({ namespace: 'rings', ttl: '60s', codec: v8() })
  const rings = cache.define({ name: 'ring', load: (_: string) => ring() })
  const miss = await rings.get('a')
  expect(miss.self).toBe(miss)
  expect(miss.map!.get('ring')).toBe(miss)
  expect(Object.isFrozen(miss.list)).toBe(true)
  expect(await rings.get('a')).toBe(miss)
  await cache.close()
})
