// What is decoded piece by piece is what is decoded at once: with pieces so short that everything
// is longer than one, and with the real ones.

import { setImmediate } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { decodedInPieces, messagePack } from '../../src/codecs/msgpack.ts'
import { anyValue } from '../support/any-value.ts'

const always = { frozen: false, pause: () => undefined }

function inPieces(bytes: Uint8Array, length: number, frozen = false): Promise<unknown> {
  return decodedInPieces(bytes, { ...always, frozen }, length)
}

/** Which parts of it are frozen, in order. */
function frozenness(value: unknown): boolean[] {
  if (typeof value !== 'object' || value === null) return []
  const parts: unknown[] =
    value instanceof Map
      ? [...value].flat()
      : value instanceof Set
        ? [...value]
        : ArrayBuffer.isView(value)
          ? []
          : value instanceof Error
            ? [value.cause]
            : Object.values(value)
  return [Object.isFrozen(value), ...parts.flatMap(frozenness)]
}

async function expectSame(bytes: Uint8Array, length: number): Promise<void> {
  const once = messagePack.decode(bytes)
  const pieces = await inPieces(bytes, length)
  // Not toStrictEqual, which takes seconds for megabytes.
  expect(isDeepStrictEqual(pieces, once)).toBe(true)
  expect(Buffer.compare(messagePack.encode(pieces), messagePack.encode(once))).toBe(0)
  const frozen = await inPieces(bytes, length, true)
  expect(isDeepStrictEqual(frozen, once)).toBe(true)
  expect(frozenness(frozen)).toEqual(frozenness(messagePack.decodeFrozen!(bytes)))
}

const product = (id: number): object => ({
  id,
  name: `Product ${id}`,
  at: new Date(id),
  price: { amount: BigInt(id), currency: 'EUR' },
  tags: ['a', `b${id}`],
})
const error = Object.assign(
  new AggregateError([new Error('x'.repeat(99)), product(1)], 'all', { cause: product(2) }),
  { code: 'ECODE' },
)

const samples: readonly { name: string; value: unknown }[] = [
  { name: 'records of one shape', value: Array.from({ length: 3_000 }, (_, i) => product(i)) },
  {
    name: 'records of more shapes than there are ids, each of them again and again',
    value: Array.from({ length: 3_000 }, (_, i) => ({ [`a${i % 97}`]: i, b: { [`c${i % 89}`]: i } })),
  },
  {
    name: 'more shapes than are ever compiled',
    value: Array.from({ length: 4_500 }, (_, i) => ({ [`a${i}`]: { i, at: -0 } })),
  },
  {
    name: 'a Map of thirty thousand',
    value: new Map(Array.from({ length: 30_000 }, (_, i) => [`key${i}`, i])),
  },
  {
    name: 'a Map with keys that are long themselves',
    value: new Map(Array.from({ length: 9 }, (_, i) => [Array.from({ length: 30_000 }, () => i), i])),
  },
  { name: 'a Set', value: new Set(Array.from({ length: 30_000 }, (_, i) => `member ${i}`)) },
  { name: 'an error that carries much', value: { error, list: [error, [error]] } },
  { name: 'text and bytes', value: ['é'.repeat(99_999), Buffer.alloc(1_500_000, 5), 'end'] },
  { name: 'typed arrays', value: { one: new Float64Array(40_000).fill(0.1), two: Uint8Array.of(1) } },
  { name: 'a record with many names', value: Object.fromEntries(Array.from({ length: 15_000 }, (_, n) => [`n${n}`, n])) },
  { name: 'names that have a meaning (T126)', value: JSON.parse(`{"__proto__":{"a":"${'x'.repeat(99_999)}"},"b":[1]}`) },
  { name: 'one in another, 900 times', value: Array.from({ length: 900 }).reduce((inner) => ({ a: inner, b: ['y', 'x'.repeat(99)] }), 1) },
  { name: 'huge bigints and odd text', value: [1n << 700_000n, '\ud800'.repeat(40_000), '\ufeff'] },
] // prettier-ignore

describe('MessagePack in pieces', () => {
  test.each(samples)('gives the same as at once: $name', async ({ value }) => {
    const bytes = messagePack.encode(value)
    expect(isDeepStrictEqual(messagePack.decode(bytes), value)).toBe(true)
    await expectSame(bytes, 64 * 1024)
    await expectSame(bytes, 5_000)
  })

  test('gives the same as at once, whatever it is and however short the pieces', async () => {
    await fc.assert(
      fc.asyncProperty(anyValue, fc.integer({ min: 1, max: 80 }), (value, length) =>
        expectSame(messagePack.encode([value, product(1), value, product(2)]), length),
      ),
      { numRuns: 600 },
    )
  })

  test('shares nothing with the bytes that it was made of (T112)', async () => {
    const value = { body: Buffer.alloc(200_000, 1), list: ['x'.repeat(200_000), Buffer.from('a')] }
    const bytes = Buffer.from(messagePack.encode(value))
    const copy = (await messagePack.decodeInPieces!(bytes, always)) as typeof value
    bytes.fill(0)
    expect(isDeepStrictEqual(copy, value)).toBe(true)
  })

  test('lets others run between its pieces, and waits for them alone', async () => {
    const bytes = messagePack.encode(Array.from({ length: 20_000 }, (_, i) => product(i)))
    let turns = 0
    let asked = 0
    const pause = (): Promise<void> | undefined =>
      ++asked % 5 === 0 ? setImmediate().then(() => void turns++) : undefined
    const value = await messagePack.decodeInPieces!(bytes, { frozen: true, pause })
    expect(value).toHaveLength(20_000)
    expect(asked).toBeGreaterThan(bytes.length / 70_000)
    expect(turns).toBe(Math.floor(asked / 5))
  })

  test('of another making throws, or gives the same as at once (T114)', async () => {
    const real = [samples[0]!.value, samples[1]!.value, [error, new Map([[1, product(1)]])]]
      .map((value) => (Array.isArray(value) ? value.slice(0, 30) : value))
      .map((value) => Buffer.from(messagePack.encode(value)))
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...real),
        fc.array(fc.tuple(fc.nat(), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 200 }),
        async (bytes, changes, length) => {
          const hostile = Buffer.from(bytes)
          for (const [at, byte] of changes) hostile[at % hostile.length] = byte
          let pieces: unknown
          try {
            pieces = await inPieces(hostile, length)
          } catch (thrown) {
            expect(thrown).toBeInstanceOf(Error)
            return
          }
          // Their bytes, since two invalid Dates are not deeply equal.
          const [one, other] = [pieces, messagePack.decode(hostile)].map((v) =>
            messagePack.encode(v),
          )
          expect(Buffer.compare(one!, other!)).toBe(0)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test.each([
    { name: 'arrays in arrays', bytes: Buffer.alloc(300_000, 0x91) },
    { name: 'shapes in shapes', bytes: Buffer.from('d4724091a161'.repeat(50_000), 'hex') },
    { name: 'marks in marks', bytes: Buffer.from('93c106'.repeat(90_000), 'hex') },
  ])('ends in no time at hostile depth: $name', async ({ bytes }) => {
    // Something at the end, so that the whole is a value.
    const hostile = Buffer.concat([bytes, Buffer.from([0xc0])])
    const from = performance.now()
    await expect(messagePack.decodeInPieces!(hostile, always)).rejects.toThrow(Error)
    expect(performance.now() - from).toBeLessThan(5_000)
  })
})

describe('room for a big value', () => {
  const big = { body: Buffer.alloc(1_500_000, 1), list: [1] }
  const never = (): undefined => undefined

  test.each([100, 1_000_000, 3_000_000])('of %i bytes changes nothing of it', async (bytes) => {
    await messagePack.makeRoom!(bytes, never)
    const first = messagePack.encode(big)
    await messagePack.makeRoom!(bytes, never)
    const second = messagePack.encode(big)
    expect(isDeepStrictEqual(messagePack.decode(first), big)).toBe(true)
    expect(Buffer.compare(first, second)).toBe(0)
    second.fill(0)
    expect(isDeepStrictEqual(messagePack.decode(first), big)).toBe(true)
  })

  test('is let go of by the next value, small as it may be', async () => {
    await messagePack.makeRoom!(3_000_000, never)
    const small = messagePack.encode('small')
    expect(small.buffer.byteLength).toBeLessThan(1_000)
    const later = messagePack.encode(big)
    expect(later.buffer.byteLength).toBeLessThan(2_000_000)
  })
})

describe('what is big', () => {
  const pages = Array.from({ length: 1_000 }, (_, p) =>
    Array.from({ length: 20 }, (_, i) => product(p * 20 + i)),
  )

  test('is encoded into memory of about its own size, which nothing else has', () => {
    const bytes = messagePack.encode(pages)
    const body = messagePack.encode(Buffer.alloc(10 * 2 ** 20, 7))
    expect(bytes.buffer.byteLength).toBeLessThanOrEqual(bytes.length * 1.126)
    expect(body.buffer.byteLength).toBeLessThanOrEqual(body.length * 1.126)
    messagePack.encode(['another', pages])
    expect(isDeepStrictEqual(messagePack.decode(bytes), pages)).toBe(true)
    expect(isDeepStrictEqual(messagePack.decode(body), Buffer.alloc(10 * 2 ** 20, 7))).toBe(true)
    expect(messagePack.encode('small').buffer.byteLength).toBeLessThan(64)
  })

  test.each([
    { name: 'text of three bytes a character', value: Array.from({ length: 500 }, () => '漢字'.repeat(400)) },
    { name: 'text of two bytes in short strings', value: Array.from({ length: 50_000 }, (_, i) => `ééé${i}ééé`) },
    { name: 'names alone', value: Object.fromEntries(Array.from({ length: 50_000 }, (_, i) => ['n'.repeat(i % 99) + i, 1])) },
    { name: 'Dates', value: Array.from({ length: 50_000 }, (_, i) => new Date(i)) },
    { name: 'typed arrays', value: [new Float64Array(99_999), new Map([[1, new Uint8Array(999_999)]])] },
    { name: 'one long string', value: 'x'.repeat(3_000_000) },
  ])('may be of any kind: $name', ({ value }) => {
    expect(isDeepStrictEqual(messagePack.decode(messagePack.encode(value)), value)).toBe(true)
  }) // prettier-ignore
})
