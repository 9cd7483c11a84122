// The table of docs/codecs.md, each cell of it run for real. A row has a sample here by its name; a
// cell says `kept`, `refused`, or what the sample becomes.

import { create } from '@bufbuild/protobuf'
import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { jsonCodec } from '../../src/codecs/json.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { protobuf } from '../../src/codecs/protobuf.ts'
import { v8Codec } from '../../src/codecs/v8.ts'
import { Unstorable } from '../../src/core/unstorable.ts'
import type { CodecPort } from '../../src/ports.ts'
import { ProductSchema } from '../support/proto-types.ts'

interface Sample {
  readonly values: readonly unknown[]
  /** Fields of a message, where Protocol Buffers have some for it. */
  readonly fields?: object
  /** Where a cell says that it becomes something: by the cell's text. */
  readonly becomes?: Readonly<Record<string, unknown>>
}

class Point {
  x = 1
  readonly #secret = 2
  get sum(): number {
    return this.x + this.#secret
  }
}
class Hidden {
  readonly #value = 1
  read(): number {
    return this.#value
  }
}
class Money {
  amount = 5
  toJSON(): unknown {
    return { money: 5n }
  }
}
class List extends Array<number> {}
class Table extends Map<number, number> {}

const cycle: { self?: unknown } = {}
cycle.self = cycle
const messageCycle = create(ProductSchema)
messageCycle.parts.push(messageCycle)
const shared = { a: 1 }
const coded = Object.assign(new TypeError('no such file'), { code: 'ENOENT' })
const named = Object.defineProperty(new Error('x'), 'name', { value: 'NotFound' })
const symbolNamed = { [Symbol('mark')]: 1 }
const throwing = Object.defineProperty({}, 'token', {
  enumerable: true,
  get: () => {
    throw new Error('no token')
  },
})
const levels = Array.from({ length: 1_100 }).reduce((inner) => [inner], 1)
const odd = JSON.parse('{"__proto__":{"a":1},"constructor":1,"toJSON":2,"then":3}') as object

const oddCounts = JSON.parse('{"__proto__":5,"constructor":1,"toJSON":2}') as object

const samples: Readonly<Record<string, Sample>> = {
  '`null` and `undefined` themselves': { values: [null, undefined] },
  '`undefined` in objects and arrays': {
    values: [{ a: undefined }, [undefined]],
    fields: { note: undefined },
    becomes: { 'an unset field': create(ProductSchema) },
  },
  'booleans, finite numbers': { values: [true, 0, -1, 0.1, 2 ** 53], fields: { price: 0.1 } },
  '`NaN`, `-0`, `Infinity`': { values: [NaN, -0, [Infinity, -0]], fields: { price: -0 } },
  'bigints of 64 bits': { values: [5n, -(2n ** 63n)], fields: { soldInAll: -(2n ** 63n) } },
  'bigints of any size': { values: [2n ** 64n, -(3n ** 500n)], fields: { soldInAll: 2n ** 64n } },
  strings: { values: ['', 'é😀\0', '\ufeffx', '~#date'], fields: { name: '\ufeffé😀\0' } },
  'lone surrogates in strings': { values: ['a\ud800'], fields: { name: 'a\ud800' } },
  'arrays, plain objects': {
    values: [[], {}, { a: [1, { b: 2 }] }],
    fields: { tags: ['a'], counts: { a: 1 }, parts: [create(ProductSchema)] },
  },
  'own names such as `constructor`, `toJSON`, `__proto__`': { values: [odd], fields: { counts: oddCounts } },
  '`Date`, valid or not': { values: [new Date(5), new Date(NaN)], fields: { at: new Date(5) } },
  '`Map`, `Set`': { values: [new Map([[{ a: 1 }, 1]]), new Set([NaN])], fields: { counts: new Map([['a', 1]]) } },
  '`RegExp`': { values: [/a\/b/giu], fields: { name: /a/ } },
  'its `lastIndex`': { values: [Object.assign(/a/g, { lastIndex: 3 })], fields: { name: /a/ } },
  '`URL`': { values: [new URL('http://a/b?c#d')], fields: { name: new URL('http://a') } },
  '`Uint8Array`': { values: [Uint8Array.of(1, 2)], fields: { image: Uint8Array.of(1, 2) } },
  '`Buffer`': {
    values: [Buffer.from('abc')],
    fields: { image: Buffer.from('abc') },
    becomes: { 'a `Uint8Array`': create(ProductSchema, { image: Uint8Array.of(97, 98, 99) }) },
  },
  'other typed arrays, `DataView`, `ArrayBuffer`': {
    values: [Float64Array.of(0.1), BigInt64Array.of(-1n), new DataView(new ArrayBuffer(4), 1, 2), new ArrayBuffer(3)],
    fields: { image: Float64Array.of(0.1) },
  },
  '`Error` of a built-in class: name, message, `cause`': {
    values: [new TypeError('no', { cause: new RangeError('far') })],
    fields: { name: new Error('x') },
  },
  'its `code`, a name of its own, the errors of an `AggregateError`': {
    values: [coded, named, new AggregateError([new Error('a')], 'all')],
    fields: { name: coded },
  },
  cycles: { values: [cycle], fields: messageCycle },
  'one object referred to twice': {
    values: [[shared, shared]],
    fields: (() => { const part = create(ProductSchema); return { parts: [part, part] } })(),
    becomes: { 'two copies': 'compared below' },
  },
  'class instances': {
    values: [new Point()],
    fields: new Point(),
    becomes: { 'a plain object of its enumerable data': { x: 1 } },
  },
  'instances with `toJSON()`': {
    values: [new Money()],
    fields: { at: new Money() },
    becomes: { 'what that returns': { money: 5n }, 'a plain object of its enumerable data': { amount: 5 } },
  },
  'objects without a prototype': {
    values: [Object.assign(Object.create(null) as object, { a: 1 })],
    fields: { counts: Object.assign(Object.create(null) as object, { a: 1 }) },
    becomes: { 'a plain object': { a: 1 }, 'a plain one': create(ProductSchema, { counts: { a: 1 } }) },
  },
  'subclasses of `Array` and `Map`': {
    values: [[List.of(1, 2), new Table([[1, 2]])]],
    fields: { counts: new Table([[1, 2]]) },
    becomes: { 'the `Array`, the `Map`': [[1, 2], new Map([[1, 2]])] },
  },
  'holes in arrays': {
    values: [[1, , 3]], // oxlint-disable-line no-sparse-arrays
    fields: { tags: ['a', , 'c'] }, // oxlint-disable-line no-sparse-arrays
    becomes: { '`undefined`': [1, undefined, 3] },
  },
  'named properties of arrays': {
    values: [Object.assign([1], { extra: 2 })],
    fields: { tags: Object.assign(['a'], { extra: 'b' }) },
    becomes: { 'the array without them': [1] },
  },
  '`new String("a")` and the like': {
    values: [[Object('a'), Object(5)]],
    fields: { name: Object('a') },
    becomes: { 'the value': ['a', 5] },
  },
  'functions, symbols': { values: [() => 1, { save() {} }, [Symbol('s')]], fields: { note: () => 'x' } },
  'symbol-named properties': { values: [symbolNamed, [symbolNamed]], fields: symbolNamed },
  'getters that throw': { values: [throwing], fields: { parts: [throwing] } },
  'instances without enumerable data: `Promise`, `WeakMap`, `Response`, all fields private': {
    values: [Promise.resolve(1), new WeakMap(), new Response('x'), [new Hidden()]],
    fields: { at: Promise.resolve(1) },
  },
  'more than 1,000 levels': { values: [levels], fields: { parts: Array.from({ length: 1_100 }).reduce<object[]>((inner) => [Object.assign(create(ProductSchema), { parts: inner })], []) } },
  'properties that the type does not have': { values: [], fields: { extra: 1 } },
} // prettier-ignore

const codecs = [messagePack, jsonCodec, protobuf(ProductSchema) as CodecPort, v8Codec]
const rows = readFileSync(new URL('../../docs/codecs.md', import.meta.url), 'utf8')
  .split('\n')
  .filter((line) => /^\|.*\|$/.test(line))
  .map((line) =>
    line
      .slice(1, -1)
      .split('|')
      .map((cell) => cell.trim()),
  ) // prettier-ignore
  .filter((cells) => cells.length === 1 + codecs.length)
const [heads, , ...body] = rows

function copyOf(codec: CodecPort, value: unknown): unknown {
  return codec.decode(codec.encode(value))
}

function expectCell(codec: CodecPort, cell: string, value: unknown, sample: Sample): void {
  if (cell === 'refused') {
    expect(() => codec.encode(value)).toThrow(Unstorable)
    return
  }
  const copy = copyOf(codec, value)
  const becomes = cell.startsWith('becomes ') ? cell.slice('becomes '.length) : undefined
  if (becomes === undefined) {
    expect(cell).toBe('kept')
    expect(copy).toStrictEqual(value)
    if (value instanceof RegExp) expect((copy as RegExp).lastIndex).toBe(value.lastIndex)
    // What the assertion cannot see.
    if (Array.isArray(value)) expect(Object.keys(copy as object)).toEqual(Object.keys(value))
  } else if (becomes === 'two copies') {
    const [one, other] = Array.isArray(copy) ? copy : (copy as { parts: unknown[] }).parts
    expect(one).toStrictEqual(other)
    expect(one).not.toBe(other)
  } else {
    expect(Object.keys(sample.becomes ?? {})).toContain(becomes)
    expect(copy).toStrictEqual(sample.becomes![becomes])
    if (Array.isArray(copy)) expect(Object.keys(copy)).toEqual(Object.keys(sample.becomes![becomes] as object))
  } // prettier-ignore
}

describe('docs/codecs.md', () => {
  test('has a column per codec, and a row per sample', () => {
    expect(heads?.slice(1)).toEqual(codecs.map(({ name }) => `\`${name}\``))
    expect(body.map(([name]) => name)).toEqual(Object.keys(samples))
  })

  test.each(body.map(([name, ...cells]) => ({ name: name!, cells })))(
    'says what becomes of $name (T109, T112)',
    ({ name, cells }) => {
      const sample = samples[name]!
      codecs.forEach((codec, i) => {
        const isProtobuf = codec.name === 'protobuf'
        const values =
          isProtobuf && sample.fields !== undefined ? [messageOf(sample)] : sample.values
        for (const value of values) {
          try {
            expectCell(codec, cells[i]!, value, sample)
          } catch (error) {
            throw new Error(`${codec.name}: ${cells[i]}`, { cause: error })
          }
        }
        if (values.length === 0) expect(cells[i]).toBe('–')
      })
    },
  )

  test('and nothing of it has polluted anything (T126)', () => {
    expect(Object.keys(Object.prototype)).toEqual([])
    expect(({} as Record<string, unknown>)['a']).toBeUndefined()
  })
})

/** Not by `create`, which would turn some fields into others before the codec sees them. */
function messageOf({ fields }: Sample): unknown {
  return Object.assign(create(ProductSchema), fields)
}
