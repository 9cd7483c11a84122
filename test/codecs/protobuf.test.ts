import { create, toBinary } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { protobuf } from '../../src/codecs/protobuf.ts'
import { BreakwaterError } from '../../src/core/errors.ts'
import { Unstorable } from '../../src/core/unstorable.ts'
import { createCache } from '../../src/index.ts'
import type { CodecPort } from '../../src/ports.ts'
import { NewerSizeSchema, OldSchema, ProductSchema, SizeSchema } from '../support/proto-types.ts'
import type { Product } from '../support/proto-types.ts'

const products = protobuf(ProductSchema) as CodecPort
const olds = protobuf(OldSchema) as CodecPort
const sizes = protobuf(SizeSchema) as CodecPort
const copyOf = (value: unknown, codec = products): unknown => codec.decode(codec.encode(value))

const full = create(ProductSchema, {
  name: 'Keyboard é😀',
  price: 0.1,
  ratio: 0.5,
  stock: -5,
  soldInAll: 2n ** 60n,
  image: Uint8Array.of(1, 2, 255),
  tags: ['a', ''],
  counts: { a: 1, '': 0, constructor: 2, toString: 3 },
  parts: [{ name: 'key' }, { parts: [{ price: NaN }] }],
  kind: { case: 'size', value: { width: -3 } },
  note: '',
  active: true,
  blobs: { one: Uint8Array.of(7) },
  at: { seconds: 5n, nanos: 6 },
})

function unstorable(value: unknown, codec = products): string {
  try {
    codec.encode(value)
  } catch (error) {
    expect(error).toBeInstanceOf(Unstorable)
    return (error as Unstorable).message
  }
  return expect.unreachable('it was encoded')
}

describe('Protocol Buffers keep', () => {
  test('a message with all kinds of fields', () => {
    expect(copyOf(full)).toStrictEqual(full)
    expect(copyOf(create(ProductSchema))).toStrictEqual(create(ProductSchema))
  })

  test('null and undefined, each as itself (T055)', () => {
    expect(copyOf(null)).toBe(null)
    expect(copyOf(undefined)).toBe(undefined)
  })

  test('any message', () => {
    const product: fc.Arbitrary<Product> = fc
      .record(
        {
          name: fc.string({ unit: 'grapheme' }),
          price: fc.double(),
          ratio: fc.float(),
          stock: fc.integer(),
          soldInAll: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
          image: fc.uint8Array(),
          tags: fc.array(fc.string()),
          counts: fc.dictionary(fc.string(), fc.integer(), { noNullPrototype: true }),
          parts: fc.array(fc.record({ name: fc.string() }), { maxLength: 3 }),
          kind: fc.oneof(
            fc.string().map((value) => ({ case: 'book' as const, value })),
            fc.integer().map((width) => ({ case: 'size' as const, value: { width } })),
          ),
          note: fc.string(),
          active: fc.boolean(),
        },
        { requiredKeys: [] },
      )
      .map((fields) => create(ProductSchema, fields))
    fc.assert(
      fc.property(product, (message) => {
        expect(copyOf(message)).toStrictEqual(message)
      }),
      { numRuns: 1_000 },
    )
  })

  test('the difference between an unset field of proto2 and its default', () => {
    const unset = create(OldSchema, { name: 'x' })
    const copy = copyOf(unset, olds) as typeof unset
    expect(copy).toStrictEqual(unset)
    expect([copy.n, Object.hasOwn(copy, 'n')]).toEqual([7, false])
    const set = create(OldSchema, { name: 'x', n: 7 })
    expect(Object.hasOwn(copyOf(set, olds) as object, 'n')).toBe(true)
  })

  test('fields that only a later version of the type knows', () => {
    const later = create(NewerSizeSchema, { width: 5, unit: 'mm' })
    const codec = protobuf(NewerSizeSchema) as CodecPort
    const seen = sizes.decode(codec.encode(later))
    expect(codec.decode(sizes.encode(seen))).toStrictEqual(later)
  })

  test('a plain object that has all the fields of the type', () => {
    const plain = JSON.parse('{"$typeName":"shop.Size","width":5}') as object
    expect(copyOf(plain, sizes)).toStrictEqual(create(SizeSchema, { width: 5 }))
  })
})

describe('Protocol Buffers change', () => {
  test('a float field to what 32 bits can hold', () => {
    const copy = copyOf(create(ProductSchema, { ratio: 0.1 })) as Product
    expect(copy.ratio).toBe(Math.fround(0.1))
  })

  test('a Buffer to a Uint8Array of its own', () => {
    const payload = Buffer.from(
      products.encode(create(ProductSchema, { image: Buffer.from('abc') })),
    )
    const { image } = products.decode(payload) as Product
    expect([Buffer.isBuffer(image), image.buffer.byteLength]).toEqual([false, 3])
    payload.fill(0)
    expect(image).toStrictEqual(Uint8Array.of(97, 98, 99))
  })
})

describe('Protocol Buffers refuse (T120)', () => {
  const odd = (fields: object): unknown => Object.assign(create(ProductSchema), fields)
  const cycle = create(ProductSchema)
  cycle.parts.push(cycle)

  test.each([
    { name: 'what is no message', value: { name: 'x' }, said: '$: expected a message of shop.Product' },
    { name: 'a list of messages', value: [full], said: '$: expected a message of shop.Product' },
    { name: 'text', value: 'x', said: '$: expected a message of shop.Product' },
    { name: 'a message of another type', value: create(SizeSchema), said: '$: expected a message of shop.Product' },
    { name: 'an int32 out of range', value: odd({ stock: 2 ** 31 }), said: /^\$\.stock: invalid int32/ },
    { name: 'a fraction in an int32', value: odd({ stock: 0.5 }), said: /^\$\.stock: invalid int32/ },
    { name: 'an int64 out of range', value: odd({ soldInAll: 2n ** 63n }), said: /^\$\.soldInAll: invalid int64/ },
    { name: 'a number as text', value: odd({ name: 5 }), said: '$.name: would come back as "5", not 5' },
    { name: 'a number as bigint', value: odd({ soldInAll: 5 }), said: '$.soldInAll: would come back as 5n, not 5' },
    { name: 'text as a number', value: odd({ stock: '5' }), said: '$.stock: would come back as 5, not "5"' },
    { name: 'text as a boolean', value: odd({ active: 'no' }), said: '$.active: would come back as true, not "no"' },
    { name: 'a lone surrogate', value: odd({ tags: ['a', '\ud800'] }), said: /^\$\.tags\[1\]: / },
    { name: 'a property that is no field', value: odd({ extra: 1 }), said: '$.extra: not a field of this message' },
    { name: 'a property of a part', value: odd({ parts: [{ ...create(ProductSchema), x: 1 }] }), said: '$.parts[0].x: not a field of this message' },
    { name: 'a missing field', value: odd({ name: undefined }), said: /^\$/ },
    { name: 'a cycle', value: cycle, said: /^\$: / },
    { name: 'a function', value: odd({ note: () => 'x' }), said: /^\$\.note: / },
    { name: 'more levels than are read back', value: Array.from({ length: 150 }).reduce<Product>((inner) => create(ProductSchema, { parts: [inner] }), create(ProductSchema)), said: /^\$: cannot be read back/ },
  ])('$name', ({ value, said }) => {
    expect(unstorable(value)).toMatch(said)
  }) // prettier-ignore

  test('a getter that throws, with what it said', () => {
    const value = Object.defineProperty(create(ProductSchema), 'name', {
      get: () => {
        throw new Error('no name')
      },
    })
    expect(unstorable(value)).toMatch(/no name/)
  })

  test('a message of proto2 whose required field is missing', () => {
    expect(unstorable(create(OldSchema), olds)).toMatch(/required field not set/)
  })

  test('what is no message type, in a sentence', () => {
    for (const wrong of [undefined, {}, 'shop.Product', create(SizeSchema)]) {
      expect(() => protobuf(wrong as never)).toThrow(BreakwaterError)
    }
    expect(() => protobuf(undefined as never)).toThrow(
      'protobuf: expected a message type such as the generated ProductSchema, got undefined',
    )
  })
})

describe('Protocol Buffers as bytes', () => {
  test('are of one type alone: a frame of another is refused, never misread (T114)', () => {
    expect(() => products.decode(sizes.encode(create(SizeSchema, { width: 1 })))).toThrow(
      'malformed payload: no message of shop.Product',
    )
    expect(() => products.decode(toBinary(ProductSchema, full))).toThrow('malformed payload')
    for (const length of [0, 1, 3, 4]) {
      const cut = products.encode(full).subarray(0, length)
      expect(() => products.decode(cut)).toThrow('malformed payload')
    }
  })

  test('are frozen to the bottom where callers share them, proto2 included', () => {
    const frozen = products.decodeFrozen!(products.encode(full)) as Product
    expect(frozen).toStrictEqual(full)
    const { tags, counts, parts: list, kind, at } = frozen
    const parts: unknown[] = [frozen, tags, counts, list, list[1], kind, at]
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true))
    expect(Object.isFrozen(olds.decodeFrozen!(olds.encode(create(OldSchema, { name: 'x' }))))).toBe(
      true,
    )
    // And goes in again as it came out.
    expect(copyOf(frozen)).toStrictEqual(full)
  })

  test('own names like __proto__ in a map are kept, and pollute nothing (T126)', () => {
    const counts = JSON.parse('{"__proto__":5,"constructor":1}') as Record<string, number>
    const copy = copyOf(create(ProductSchema, { counts })) as Product
    expect(Object.keys(copy.counts)).toEqual(['__proto__', 'constructor'])
    expect(Object.getPrototypeOf(copy.counts)).toBe(Object.prototype)
  })
})

test('a cache of messages gives a miss what it gives a hit (T109)', async () => {
  const cache = createCache({ namespace: 'shop', ttl: '60s' })
  const product = cache.define({
    name: 'product',
    codec: protobuf(ProductSchema),
    load: (id: number) => (id === 0 ? null : create(ProductSchema, { name: `p${id}`, ratio: 0.1 })),
  })
  const miss = await product.get(1)
  expect(miss).toStrictEqual(create(ProductSchema, { name: 'p1', ratio: Math.fround(0.1) }))
  expect(await product.get(1)).toBe(miss)
  expect(Object.isFrozen(miss)).toBe(true)
  expect(await product.get(0)).toBe(null)
  await cache.close()
})
