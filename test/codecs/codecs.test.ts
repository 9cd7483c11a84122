import { isDeepStrictEqual } from 'node:util'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonCodec } from '../../src/codecs/json.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { Unstorable } from '../../src/core/unstorable.ts'
import type { CodecPort } from '../../src/ports.ts'
import { anyValue } from '../support/any-value.ts'

const codecs: readonly CodecPort[] = [messagePack, jsonCodec]

function copyOf(codec: CodecPort, value: unknown): unknown {
  return codec.decode(codec.encode(value))
}

/** toStrictEqual takes −0 for 0 nowhere, but a hole for undefined; so it is written out where it matters. */
const kept: readonly { name: string; value: unknown }[] = [
  { name: 'null', value: null },
  { name: 'undefined (T055)', value: undefined },
  { name: 'undefined as a property and an element', value: { a: undefined, b: [undefined, null] } },
  { name: 'booleans', value: [true, false] },
  {
    name: 'numbers',
    value: [0, 1, -1, 63, 64, 127, 128, 2 ** 31, 2 ** 32, -(2 ** 31) - 1, 2 ** 53],
  },
  { name: 'fractions', value: [0.1, 1.5, 5e-324, 1.7976931348623157e308, 1e21] },
  { name: 'NaN, −0 and infinities', value: [NaN, -0, Infinity, -Infinity, { zero: -0, nan: NaN }] },
  { name: '−0 alone', value: -0 },
  {
    name: 'bigints',
    value: [0n, -1n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), 2n ** 64n, -(2n ** 64n)],
  },
  { name: 'huge bigints', value: { big: 3n ** 500n, small: -(7n ** 333n), vast: 1n << 70_000n } },
  {
    name: 'strings',
    value: ['', 'a', 'é', '€', '😀', '\0', '\ufeff', '"', '\\', 'x'.repeat(70_000)],
  },
  {
    name: 'strings that begin like a file with a byte order mark',
    value: [1, 15, 64, 65, 300].map((n) => ({ [`\ufeff${n}`]: '\ufeff'.padEnd(n, 'x') })),
  },
  { name: 'strings of every length', value: Array.from({ length: 300 }, (_, n) => 'aé'.repeat(n)) },
  {
    name: 'lone surrogates',
    value: ['\ud800', 'a\udfffb', { '\ud800': '\udc00' }, ['x'.repeat(99) + '\ud800']],
  },
  {
    name: 'strings that look like a codec’s own marks (T111)',
    value: {
      ':name': ':base64:aGk=',
      '::': '~#date',
      $date: 5,
      __type: 'Date',
      null: 'null',
      '~#date': 5,
      only: [
        { '~#date': 5 },
        { '~#': 1 },
        { '~#map': [1, 2] },
        { '~#object': { '~#date': [{ '~#x': 1 }] } },
      ],
    },
  },
  { name: 'a Date (T109)', value: new Date(1_700_000_000_123) },
  {
    name: 'Dates far away',
    value: [
      new Date(-1),
      new Date(0),
      new Date(8.64e15),
      new Date(-8.64e15),
      new Date(-62135596800001),
    ],
  },
  { name: 'an invalid Date', value: { at: new Date(NaN) } },
  {
    name: 'a Map',
    value: new Map<unknown, unknown>([
      ['a', 1],
      [{ b: 1 }, new Date(5)],
      [NaN, undefined],
      [-0.5, new Map()],
    ]),
  },
  { name: 'a Set', value: new Set<unknown>(['a', 1, null, undefined, [new Set([1n])]]) },
  { name: 'a RegExp', value: [/a\/b[\s]/giu, /(?:)/] },
  { name: 'a URL', value: new URL('https://user@example.org:8080/a?b=c#d') },
  {
    name: 'a Buffer (T112)',
    value: {
      body: Buffer.from([0, 1, 2, 255]),
      none: Buffer.alloc(0),
      big: Buffer.alloc(70_000, 7),
    },
  },
  { name: 'a Uint8Array', value: Uint8Array.of(1, 2, 3) },
  {
    name: 'typed arrays',
    value: [
      Int8Array.of(-1),
      Uint8ClampedArray.of(255),
      Int16Array.of(-2),
      Uint16Array.of(65535),
      Int32Array.of(-3),
      Uint32Array.of(2 ** 32 - 1),
      Float32Array.of(0.5, NaN),
      Float64Array.of(-0, 0.1),
      BigInt64Array.of(-5n),
      BigUint64Array.of(2n ** 64n - 1n),
      new Float64Array(0),
      new Float64Array(new ArrayBuffer(32), 8, 2),
    ],
  },
  { name: 'an ArrayBuffer', value: [Uint8Array.of(1, 2).buffer, new ArrayBuffer(0)] },
  { name: 'a DataView', value: new DataView(Uint8Array.of(1, 2, 3, 4).buffer, 1, 2) },
  {
    name: 'names that have a meaning (T126)',
    // oxlint-disable-next-line unicorn/no-thenable
    value: { constructor: 1, toString: 2, hasOwnProperty: 3, valueOf: 4, then: 5, length: 6 },
  },
  {
    name: 'own __proto__ (T126)',
    value: JSON.parse('{"__proto__":{"admin":true},"a":[{"__proto__":null}]}'),
  },
  {
    name: 'odd names',
    value: { '': 1, ' ': 2, '1': 3, '-1': 4, 'a.b': 5, 'ä😀': 6, '"': 7, class: 8 },
  },
  { name: 'nothing in it', value: [{}, [], [[]], { a: {} }, ''] },
  {
    name: 'records of one shape',
    value: Array.from({ length: 50 }, (_, id) => ({ id, name: `n${id}`, at: new Date(id) })),
  },
  {
    name: 'records of many shapes',
    value: Array.from({ length: 500 }, (_, n) => ({
      [`a${n}`]: n,
      [`b${n % 7}`]: { [`c${n}`]: [n] },
    })),
  },
  {
    name: 'more shapes than are ever compiled',
    value: Array.from({ length: 6_000 }, (_, n) => ({ [`a${n}`]: n })),
  },
  {
    name: 'a record with many names',
    value: Object.fromEntries(Array.from({ length: 70_000 }, (_, n) => [`name${n}`, n])),
  },
  { name: 'many elements', value: Array.from({ length: 70_000 }, (_, n) => n) },
  {
    name: 'a deep value',
    value: Array.from({ length: 900 }).reduce((inner) => ({ in: [inner][0] }), 1),
  },
]

describe.each(codecs.map((codec) => ({ name: codec.name, codec })))('$name keeps', ({ codec }) => {
  test.each(kept)('$name', ({ value }) => {
    expect(copyOf(codec, value)).toStrictEqual(value)
  })

  test('names that decide how an object is taken (T126)', () => {
    const value = { toJSON: 'x', constructor: { toJSON: 1, constructor: [-0, new Map()] } }
    // Not toStrictEqual, which compares `constructor` as a class.
    expect(isDeepStrictEqual(copyOf(codec, value), value)).toBe(true)
  })

  test('an error: name, message, code and cause, not its stack', () => {
    const error = Object.assign(new TypeError('no such id', { cause: new Error('why') }), {
      code: 'ENOENT',
    })
    const copy = copyOf(codec, { error }) as { error: TypeError & { code: string } }
    expect(copy.error).toBeInstanceOf(TypeError)
    expect(copy.error).toMatchObject({ name: 'TypeError', message: 'no such id', code: 'ENOENT' })
    expect(copy.error.cause).toBeInstanceOf(Error)
    expect((copy.error.cause as Error).message).toBe('why')
    expect(copy.error.stack).toBe('TypeError: no such id')
    expect(Object.keys(copy.error)).toEqual(['code'])
  })

  test('the name of an error of another class', () => {
    class NotFound extends Error {
      override name = 'NotFound'
    }
    const copy = copyOf(codec, new NotFound('x')) as Error
    expect(copy).toBeInstanceOf(Error)
    expect([copy.name, copy.message, 'cause' in copy]).toEqual(['NotFound', 'x', false])
    const several = copyOf(
      codec,
      new AggregateError([new RangeError('a'), 1], 'all'),
    ) as AggregateError
    expect(several).toBeInstanceOf(AggregateError)
    expect(several.errors).toEqual([new RangeError('a'), 1])
    const foreign = copyOf(codec, runInNewContext('new RangeError("far")')) as Error
    expect([foreign.name, foreign.message]).toEqual(['RangeError', 'far'])
  })

  test('any JSON, and it is no richer than before', () => {
    fc.assert(
      fc.property(fc.jsonValue({ depthSize: 'medium' }), (value) => {
        expect(copyOf(codec, value)).toStrictEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  test('anything, and reads its own copy as it reads the first', () => {
    fc.assert(
      fc.property(anyValue, (value) => {
        const copy = copyOf(codec, value)
        expect(copy).toStrictEqual(value)
        expect(Buffer.compare(codec.encode(copy), codec.encode(value))).toBe(0)
      }),
      { numRuns: 1500 },
    )
  })

  test('the class of bytes', () => {
    const copy = copyOf(codec, [Buffer.from('a'), Uint8Array.of(1)]) as Uint8Array[]
    expect(Buffer.isBuffer(copy[0])).toBe(true)
    expect(Buffer.isBuffer(copy[1])).toBe(false)
  })
})

describe.each(codecs.map((codec) => ({ name: codec.name, codec })))('$name makes', ({ codec }) => {
  class Point {
    x = 1
    readonly #secret = 2
    get sum(): number {
      return this.x + this.#secret
    }
  }
  class Money {
    toJSON(): unknown {
      return { amount: 5n, at: new Date(5) }
    }
  }
  class List extends Array<number> {}
  const bare = Object.assign(Object.create(null), { a: 1 })

  test.each([
    { name: 'a class instance its own data', given: [new Point()], expected: [{ x: 1 }] },
    {
      name: 'an object with toJSON what that gives',
      given: { m: new Money() },
      expected: { m: { amount: 5n, at: new Date(5) } },
    },
    { name: 'a hole undefined', given: [1, , 3], expected: [1, undefined, 3] }, // oxlint-disable-line no-sparse-arrays
    { name: 'an object without prototype a plain one', given: bare, expected: { a: 1 } },
    { name: 'a subclass of Array an array', given: List.of(1, 2), expected: [1, 2] },
    { name: 'a boxed value the value', given: [Object('a'), Object(5)], expected: ['a', 5] },
    {
      name: 'an object of another realm ours',
      given: runInNewContext('({ a: [new Date(5), new Map([[1, 2]])] })'),
      expected: { a: [new Date(5), new Map([[1, 2]])] },
    },
  ])('$name', ({ given, expected }) => {
    expect(copyOf(codec, given)).toStrictEqual(expected)
  })

  test('copies of an object that is referred to twice', () => {
    const shared = { a: [1] }
    const copy = copyOf(codec, [shared, shared, new Map([[shared, shared]])]) as [object, object]
    expect(copy[0]).toStrictEqual(shared)
    expect(copy[1]).toStrictEqual(shared)
    expect(copy[0]).not.toBe(copy[1])
  })

  test('no change to the value that it is given', () => {
    const value = Object.freeze({ at: new Date(5), list: Object.freeze([-0, new Map()]), n: 1n })
    expect(copyOf(codec, value)).toStrictEqual({ at: new Date(5), list: [-0, new Map()], n: 1n })
  })
})

describe.each(codecs.map((codec) => ({ name: codec.name, codec })))(
  '$name refuses (T120)',
  ({ codec }) => {
    const cycle: Record<string, unknown> = { list: [] }
    ;(cycle['list'] as unknown[]).push({ back: cycle })
    const deep: unknown = Array.from({ length: 5_000 }).reduce((inner) => [inner], 1)
    let doubled: unknown = 'x'
    for (let i = 0; i < 60; i++) doubled = [doubled, doubled]
    const throwing = {
      get token(): string {
        throw new Error('no token')
      },
    }
    class Hidden {
      readonly #value = 1
      read(): number {
        return this.#value
      }
    }

    test.each([
      { given: () => 1, path: '$', what: 'function' },
      { given: { author: { save() {} } }, path: '$.author.save', what: 'function' },
      { given: [1, { 'on-it': Symbol('s') }], path: '$[1]["on-it"]', what: 'symbol' },
      { given: { [Symbol('mark')]: 1 }, path: '$["Symbol(mark)"]', what: 'symbol' },
      { given: cycle, path: '$.list[0].back', what: 'cycle' },
      { given: deep, path: undefined, what: 'more than 1000 levels' },
      { given: doubled, path: undefined, what: 'more than 10000000 values in all' },
      { given: { a: throwing }, path: '$.a.token', what: 'threw while it was read (no token)' },
      { given: { toJSON: () => { throw new Error('never') } }, path: '$.toJSON()', what: 'threw while it was read (never)' }, // prettier-ignore
      { given: { when: Promise.resolve(1) }, path: '$.when', what: 'Promise without data' },
      { given: new WeakMap(), path: '$', what: 'WeakMap without data' },
      { given: { r: new Response('x') }, path: '$.r', what: 'Response without data' },
      { given: { h: new Hidden() }, path: '$.h', what: 'Hidden without data' },
      { given: new Map([['k', [() => 1]]]), path: '$.get("k")[0]', what: 'function' },
      { given: new Map([[() => 1, 'v']]), path: '$.keys()[0]', what: 'function' },
      { given: { s: new Set([1, () => 1]) }, path: '$.s.values()[1]', what: 'function' },
      { given: new Error('x', { cause: () => 1 }), path: '$.cause', what: 'function' },
    ])('what cannot come back: $path: $what', ({ given, path, what }) => {
      try {
        codec.encode(given)
      } catch (error) {
        expect(error).toBeInstanceOf(Unstorable)
        expect((error as Unstorable).what).toBe(what)
        if (path !== undefined) expect((error as Unstorable).path).toBe(path)
        return
      }
      expect.unreachable('it was encoded')
    })

    test('and goes on with the next value as if nothing had been', () => {
      expect(() => codec.encode([1, 2, { a: () => 1 }])).toThrow(Unstorable)
      expect(copyOf(codec, { a: ['fine'] })).toStrictEqual({ a: ['fine'] })
    })
  },
)

describe.each(codecs.map((codec) => ({ name: codec.name, codec })))(
  '$name as bytes',
  ({ codec }) => {
    const value = {
      id: 5,
      body: Buffer.from('the body'),
      list: ['é'.repeat(50), { at: new Date(5) }],
    }

    test('are their own: neither the encoder’s nor the pool’s', () => {
      const first = codec.encode(value)
      expect(first.buffer.byteLength).toBe(first.length)
      codec.encode(Array.from({ length: 2000 }, () => 'other'))
      expect(codec.decode(first)).toStrictEqual(value)
    })

    test('can be overwritten after they were decoded', () => {
      const bytes = Buffer.from(codec.encode(value))
      const copy = codec.decode(bytes) as typeof value
      bytes.fill(0)
      expect(copy).toStrictEqual(value)
      expect(copy.body.buffer.byteLength).toBeLessThan(64)
    })

    test('are read from inside a bigger buffer', () => {
      const bytes = codec.encode(value)
      const big = Buffer.alloc(bytes.length + 40, 0xff)
      big.set(bytes, 13)
      expect(codec.decode(big.subarray(13, 13 + bytes.length))).toStrictEqual(value)
      expect(codec.decode(new Uint8Array(bytes))).toStrictEqual(value)
    })

    test('of another making are refused with an error, whatever they are (T114)', () => {
      const real = [value, [value, value], new Map([[1, value]]), { a: 'x'.repeat(300), b: [-0] }]
      fc.assert(
        fc.property(
          fc.constantFrom(...real.map((one) => Buffer.from(codec.encode(one)))),
          fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { maxLength: 4 }),
          fc.nat(),
          (bytes, changes, cut) => {
            const hostile = Buffer.from(bytes.subarray(0, bytes.length - (cut % 5)))
            for (const [at, byte] of changes) hostile[at % hostile.length] = byte
            attempt(codec, hostile)
          },
        ),
        { numRuns: 3000 },
      )
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => attempt(codec, bytes)),
        { numRuns: 3000 },
      )
      expect(({} as Record<string, unknown>)['admin']).toBeUndefined()
    })

    function attempt(codec: CodecPort, bytes: Uint8Array): void {
      try {
        codec.decode(bytes)
      } catch (error) {
        expect(error).toBeInstanceOf(Error)
      }
    }
  },
)

describe('hostile MessagePack', () => {
  const nested = (token: number[], times: number): Buffer =>
    Buffer.from(Array.from({ length: times }, () => token).flat())

  test.each([
    {
      name: 'an array of four thousand million',
      bytes: Buffer.from([0xdd, 0xff, 0xff, 0xff, 0xff]),
    },
    { name: 'big arrays in arrays', bytes: nested([0xdc, 0xff, 0xff], 20_000) },
    { name: 'arrays in arrays without end', bytes: nested([0x91], 200_000) },
    { name: 'a map of four thousand million', bytes: Buffer.from([0xdf, 0xff, 0xff, 0xff, 0xff]) },
    { name: 'text of four gigabytes', bytes: Buffer.from([0xdb, 0xff, 0xff, 0xff, 0xff, 0x61]) },
    {
      name: 'a reference',
      bytes: Buffer.from([0x92, 0xd6, 0x69, 0, 0, 0, 1, 0x90, 0xd6, 0x70, 0, 0, 0, 1]),
    },
    { name: 'a bundle of strings', bytes: Buffer.from([0xd6, 0x62, 0, 0, 0, 0, 0xa1, 0x61]) },
    {
      name: 'a RegExp of the library’s own',
      bytes: Buffer.from([0xd4, 0x78, 0, 0x92, 0xa1, 0x61, 0xa0]),
    },
    {
      name: 'a record of unknown shape',
      bytes: Buffer.from([0x92, 0xd4, 0x72, 0x40, 0x90, 0x41]),
    },
    { name: 'an unknown mark', bytes: Buffer.from([0x93, 0xc1, 0x3f, 0xc0]) },
    { name: 'a mark with the wrong data', bytes: Buffer.from([0x93, 0xc1, 0x05, 0x01]) },
    { name: 'something after the value', bytes: Buffer.from([0x01, 0x01]) },
    {
      name: 'too many shapes',
      bytes: Buffer.concat([
        Buffer.from([0xdc, 0x20, 0x00]),
        nested([0xd4, 0x72, 0x40, 0x91, 0xa1, 0x61, 0x01], 0x2000),
      ]),
    },
  ])('is refused in no time: $name', ({ bytes }) => {
    const before = process.memoryUsage()
    const from = performance.now()
    expect(() => messagePack.decode(bytes)).toThrow(Error)
    expect(performance.now() - from).toBeLessThan(5_000) // unchecked, some of these end in minutes, or never
    const after = process.memoryUsage()
    expect(after.rss - before.rss).toBeLessThan(64 * 1024 ** 2)
  })

  test('gives nobody a prototype (T126)', () => {
    const bytes = Buffer.from([0x81, 0xa9, ...Buffer.from('__proto__'), 0x81, 0xa1, 0x78, 0x01])
    const value = messagePack.decode(bytes) as Record<string, unknown>
    expect(value['x']).toBeUndefined()
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
  })
})

describe('JSON', () => {
  const written = (value: unknown): string => Buffer.from(jsonCodec.encode(value)).toString()

  test('of plain data is what any program would write', () => {
    const value = { id: 5, name: 'é "x"', tags: ['a', null, true], inner: { $date: 1, '~x': 2 } }
    expect(written(value)).toBe(JSON.stringify(value))
  })

  test('has a mark that people can read where there is no form', () => {
    expect(written({ at: new Date(5), n: -0, big: 255n, none: undefined })).toBe(
      '{"at":{"~#date":5},"n":{"~#number":"-0"},"big":{"~#bigint":"ff"},"none":{"~#undefined":0}}',
    )
    expect(written({ '~#date': 5 })).toBe('{"~#object":["~#date",5]}')
  })

  test('written by others is read', () => {
    expect(jsonCodec.decode(Buffer.from(' {"a" : [1, "\\u00e9"]}'))).toEqual({ a: [1, 'é'] })
  })
})
