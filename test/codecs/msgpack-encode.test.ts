// One pass, and the way in two that it stands for: the walk that JSON takes, then msgpackr. The bytes
// are the same ones, so that whatever reads one reads the other.

import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { Packr, Unpackr } from 'msgpackr'
import { describe, expect, test } from 'vitest'
import { checkMessagePack, maxShapes } from '../../src/codecs/msgpack-check.ts'
import { format, marks, options } from '../../src/codecs/msgpack-format.ts'
import { decodedInPieces, messagePack } from '../../src/codecs/msgpack.ts'
import { revive } from '../../src/codecs/revive.ts'
import { storable } from '../../src/codecs/storable.ts'
import { Unstorable } from '../../src/core/unstorable.ts'
import { anyValue } from '../support/any-value.ts'
import { page } from '../support/products.ts'

const records = { ...options, useRecords: true }
const packr = new Packr(records)

const inOnePass = (value: unknown): Buffer => Buffer.from(messagePack.encode(value))
const inTwo = (value: unknown): Buffer => Buffer.from(packr.pack(storable(value, format)))

function outcome(of: (value: unknown) => Buffer, value: unknown): string {
  try {
    return of(value).toString('latin1')
  } catch (error) {
    if (!(error instanceof Unstorable)) throw error
    return error.message
  }
}

function expectSame(value: unknown): void {
  expect(outcome(inOnePass, value)).toBe(outcome(inTwo, value))
}

class Point {
  readonly x: unknown
  readonly #hidden = 1
  constructor(x: unknown) {
    this.x = x
  }
  get sum(): number {
    return this.#hidden
  }
}

const foreign: object = runInNewContext(
  '({ plain: [1, { b: new Date(5) }], list: Object.assign([1, 2], { a: 1 }) })',
)

/** What is not plain around a value, and what is refused. */
const odd = (value: unknown): fc.Arbitrary<unknown> =>
  fc.constantFrom<unknown>(
    new Point(value),
    { toJSON: () => value },
    { a: value, toJSON: 'no function' },
    Object.assign(Object.create(null), { a: value }),
    Object.freeze({ a: value, b: [value] }),
    { get a() { return value } },
    { get a() { throw new Error('none') } },
    new Error('why', { cause: value }),
    class extends Array<unknown> {}.of(value),
    [value, , value], // oxlint-disable-line no-sparse-arrays
    [Object('text'), Object(5n), Object(-0)],
    { [Symbol('s')]: value },
    Object.defineProperty({ a: value }, Symbol('s'), { value: 1 }),
    Object.defineProperty({ a: value }, 'b', { value: 1 }),
    { a: 1, save() {} },
    [value, Symbol('s')],
    { when: Promise.resolve() },
    { a: value, ...foreign },
    { b: value, __proto__: null },
    new Map([[value, () => 1]]),
  ) // prettier-ignore

const anything = fc
  .tuple(anyValue, anyValue)
  .chain(([a, b]) => fc.tuple(fc.constant(a), odd(a), odd(b), fc.boolean()))
  .chain(([a, one, other, isNested]) =>
    fc.constantFrom<unknown>(
      one,
      [a, one, { a, other }],
      isNested ? { one: new Set([one]) } : other,
    ),
  )

describe('MessagePack in one pass', () => {
  test('is what it is in two, for any value', () => {
    fc.assert(fc.property(anyValue, expectSame), { numRuns: 3_000 })
  })

  test('is what it is in two, or is refused with the same path, for whatever there is', () => {
    fc.assert(fc.property(anything, expectSame), { numRuns: 3_000 })
  })

  test.each([
    { name: 'numbers', value: Array.from({ length: 70 }, (_, n) => [2 ** n, 2 ** n - 1, -(2 ** n), 1 - 2 ** n, 1.1 ** n]) },
    { name: 'text of every length', value: Array.from({ length: 300 }, (_, n) => ['x', 'é', '€', '😀', 'aé'].map((unit) => unit.repeat(n))) },
    { name: 'long text', value: ['x', 'é', '€', '😀'].flatMap((unit) => [65_535, 65_536].map((n) => unit.repeat(n))) },
    { name: 'lists and bytes of every length', value: [15, 16, 255, 256, 65_535, 65_536].map((n) => [Array.from({ length: n }, () => 1), Buffer.alloc(n)]) },
    { name: 'bigints', value: [0n, 2n ** 63n - 1n, 2n ** 63n, -(2n ** 63n), -(2n ** 63n) - 1n] },
    { name: 'pages', value: Array.from({ length: 200 }, (_, n) => page(n)) },
    { name: 'shapes that begin alike', value: Array.from({ length: 500 }, (_, n) => Object.fromEntries(Array.from({ length: n % 7 }, (_, i) => [`a${i}`, n]))) },
    { name: 'more shapes than there are ids', value: Array.from({ length: 900 }, (_, n) => ({ [`a${n % 97}`]: n, b: { [`c${n % 89}`]: n } })) },
    { name: 'as many shapes as there may be', value: Array.from({ length: maxShapes - 1 }, (_, n) => ({ [`a${n}`]: n })).concat([{ a1: 1 }]) },
    { name: 'a record of many names', value: Object.fromEntries(Array.from({ length: 70_000 }, (_, n) => [`n${n}`, n])) },
    { name: 'records in what is not plain', value: [{ a: 1 }, new Map([[{ a: 2 }, new Set([{ a: 3 }, {}])]]), new Point({ a: 4 }), { a: new Date(5) }] },
  ])('is the same: $name', ({ value }) => {
    expectSame(value)
    expectSame(value) // now with names that it knows
  }) // prettier-ignore

  test('is read by msgpackr as it is', () => {
    const plain = new Unpackr(records)
    fc.assert(
      fc.property(anyValue, (value) => {
        expect(revive(plain.unpack(inOnePass(value)), marks)).toStrictEqual(value)
      }),
      { numRuns: 500 },
    )
  })

  test('has maps where there are too many shapes, and nothing is compiled for them', async () => {
    const value = Array.from({ length: maxShapes + 500 }, (_, n) => ({ [`a${n}`]: { n: [n, 99] } }))
    const bytes = inOnePass([...value, { last: 70 }, value[5]])
    expect(checkMessagePack(bytes)).toMatchObject({ shapes: maxShapes, maps: true })
    expect(messagePack.decode(bytes)).toStrictEqual([...value, { last: 70 }, value[5]])
    const pieces = await decodedInPieces(bytes, { frozen: false, pause: () => undefined }, 100)
    expect(pieces).toStrictEqual([...value, { last: 70 }, value[5]])
  })

  test('keeps names of any length', () => {
    const value = [{ ['n'.repeat(40_000_000)]: 1 }, { a: 1 }]
    const copy = messagePack.decode(inOnePass(value)) as object[]
    expect(Object.keys(copy[0]!)[0]!.length).toBe(40_000_000)
    expect(copy[1]).toStrictEqual({ a: 1 })
  })
})

describe('code of the value', () => {
  test('is run once, and what it gave is what is kept', () => {
    let times = 0
    const value = { get n() { return ++times } } // prettier-ignore
    expect(messagePack.decode(inOnePass([value]))).toStrictEqual([{ n: 1 }])
  })

  // Found by the comparison: where NaN stood for an object, the object itself was written.
  test('may give NaN', () => {
    const nan = { toJSON: () => NaN }
    const given = [nan, { a: nan }, [Object(NaN)], new Map([[1, [nan, { a: nan }, Object(NaN)]]])]
    const expected = [NaN, { a: NaN }, [NaN], new Map([[1, [NaN, { a: NaN }, NaN]]])]
    expect(messagePack.decode(inOnePass(given))).toStrictEqual(expected)
  })

  test('may have another value encoded', () => {
    let inner: unknown
    const value = {
      before: { a: 1, b: [-0] },
      get list() {
        inner = messagePack.decode(inOnePass({ b: 'x'.repeat(100_000), a: { a: 2, b: 1 } }))
        return [{ a: 3, b: 4 }]
      },
      after: { a: 5, b: 6 },
    }
    const expected = { before: { a: 1, b: [-0] }, list: [{ a: 3, b: 4 }], after: { a: 5, b: 6 } }
    expect(messagePack.decode(inOnePass(value))).toStrictEqual(expected)
    expect(inner).toStrictEqual({ b: 'x'.repeat(100_000), a: { a: 2, b: 1 } })
  })

  test('may change the value: what has been announced comes', () => {
    const record: Record<string, unknown> = {
      get a() {
        delete record['b']
        record['d'] = 4
        return 1
      },
      b: 2,
      c: 3,
    }
    expect(messagePack.decode(inOnePass([record, 'end']))).toStrictEqual([
      { a: 1, b: undefined, c: 3 },
      'end',
    ])
    const list: unknown[] = [{ get a() { return (list.length = 1) } }, 2, 3] // prettier-ignore
    expect(messagePack.decode(inOnePass(list))).toStrictEqual([{ a: 1 }, undefined, undefined])
    const growing: unknown[] = [{ get a() { return growing.push(2, 3) } }] // prettier-ignore
    expect(messagePack.decode(inOnePass(growing))).toStrictEqual([{ a: 3 }])
  })

  test('that gives all objects a property changes no value', () => {
    const value = [{ a: 1 }, { a: 1 }, new Map([[{ a: 1 }, 2]])]
    Object.defineProperty(Object.prototype, 'everywhere', {
      value: 1,
      enumerable: true,
      configurable: true,
    })
    try {
      const bytes = inOnePass(value)
      delete (Object.prototype as { everywhere?: number }).everywhere
      expect(messagePack.decode(bytes)).toStrictEqual(value)
    } finally {
      delete (Object.prototype as { everywhere?: number }).everywhere
    }
  })

  test('that throws leaves nothing behind', () => {
    const long = 'x'.repeat(200_000)
    const value = [{ a: 1 }, long, { get a() { throw new Error('no') } }] // prettier-ignore
    for (let n = 0; n < 3; n++) {
      expect(() => inOnePass(value)).toThrow('$[2].a: threw while it was read (no)')
      expectSame([{ a: 1 }, { b: 1 }])
    }
  })
})

describe('big values', () => {
  const pages = Array.from({ length: 400 }, (_, n) => page(n))
  const texts = Array.from({ length: 300 }, (_, n) => 'é'.repeat(n * 10))

  test.each([
    { name: 'a list', value: pages },
    { name: 'a list in a record', value: { total: 1, pages } },
    { name: 'a Map', value: new Map(pages.map((one, n) => [n, one])) },
    { name: 'a list of a class', value: class extends Array<unknown> {}.from(pages) },
    { name: 'Maps in a list', value: Array.from({ length: 9 }, () => new Map(pages.slice(99).map((one, n) => [n, one]))) },
    { name: 'a record of many fields', value: Object.fromEntries(pages.map((one, n) => [`page${n}`, one])) },
    { name: 'a list that gets longer and longer', value: texts },
    { name: 'bytes', value: Buffer.alloc(1_000_000, 1) },
    { name: 'a record with long text', value: { a: 'x'.repeat(90_000), b: 'é'.repeat(500_000), c: 1 } },
  ])('are in memory of about their length, with room that was made and without: $name', async ({ value }) => {
    const expected = inTwo(value)
    for (const room of [undefined, 10, expected.length, expected.length * 3]) {
      if (room !== undefined) await messagePack.makeRoom!(room, () => undefined)
      const bytes = messagePack.encode(value)
      expect(Buffer.compare(bytes, expected)).toBe(0)
      expect(bytes.buffer.byteLength).toBeLessThanOrEqual(bytes.length * 1.125)
    }
  }) // prettier-ignore
})
