// What 100,000 mutated inputs do to each codec: it may throw, and it may give some value (a frame has
// checksums of its own, so that no such value is ever served); it does nothing else. The seed is in
// the code.

import { create } from '@bufbuild/protobuf'
import { types } from 'node:util'
import { describe, expect, test } from 'vitest'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { jsonCodec } from '../../src/codecs/json.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { protobuf } from '../../src/codecs/protobuf.ts'
import { v8Codec } from '../../src/codecs/v8.ts'
import type { CodecPort } from '../../src/ports.ts'
import { ProductSchema } from '../support/proto-types.ts'

const times = 100_000

function randomFrom(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    return (state >>> 0) % below
  }
}

/** Changes bytes, and cuts, repeats and inserts, with a liking for what means something. */
function mutated(real: Buffer, random: (below: number) => number): Buffer {
  const bytes = Buffer.from(real)
  for (let n = random(3); n >= 0; n--) {
    const at = random(bytes.length)
    bytes[at] = random(2) === 0 ? random(256) : telling[random(telling.length)]!
  }
  switch (random(4)) {
    case 0:
      return bytes.subarray(0, random(bytes.length + 1))
    case 1:
      return Buffer.concat([bytes, bytes.subarray(random(bytes.length))])
    default:
      return bytes
  }
}

const telling = [0, 1, 0x40, 0x7f, 0x80, 0x93, 0xc1, 0xc6, 0xd4, 0xdb, 0xdd, 0xdf, 0xff, 0x22, 0x5b]

const values: readonly unknown[] = [
  { id: 5, at: new Date(5), body: Buffer.from('the body'), list: ['é'.repeat(50), -0, 3n ** 70n] },
  Array.from({ length: 12 }, (_, id) => ({ id, name: `n${id}`, tags: ['a', `b${id}`] })),
  new Map<unknown, unknown>([['k', new Set([1, 'a'])], [1, new Error('x', { cause: /a/g })]]),
  [new Float64Array(3), JSON.parse('{"__proto__":{"a":1},"~#date":1}'), new URL('http://a/b')],
] // prettier-ignore

const message = create(ProductSchema, {
  name: 'Keyboard',
  price: 0.1,
  image: Uint8Array.of(1, 2),
  tags: ['a'],
  counts: { a: 1 },
  parts: [{ name: 'key', blobs: { b: Uint8Array.of(3) } }],
})

/** Nothing but what codecs make: no class of anyone's, no function, no prototype that was read. */
function expectHarmless(value: unknown, depth = 0): void {
  expect(typeof value).not.toBe('function')
  if (typeof value !== 'object' || value === null || depth > 20) return
  const prototype: unknown = Object.getPrototypeOf(value)
  const harmless =
    prototype === Object.prototype ||
    Array.isArray(value) ||
    ArrayBuffer.isView(value) ||
    value instanceof URL ||
    types.isNativeError(value) ||
    types.isDate(value) ||
    types.isMap(value) ||
    types.isSet(value) ||
    types.isRegExp(value) ||
    types.isArrayBuffer(value)
  if (!harmless) expect.unreachable(`an object of another kind: ${String(value)}`)
  for (const part of Object.values(value)) expectHarmless(part, depth + 1)
}

describe.each([
  { codec: messagePack, of: values },
  { codec: jsonCodec, of: values },
  { codec: protobuf(ProductSchema) as CodecPort, of: [message, null] },
  { codec: v8Codec, of: values.slice(0, 2) },
])('$codec.name and 100,000 mutated inputs (T114)', ({ codec, of }) => {
  test('throws or gives a harmless value, in no time and in no memory (T126)', () => {
    const real = of.map((value) => Buffer.from(codec.encode(value)))
    const random = randomFrom(0x9e3779b9)
    const before = process.memoryUsage().rss
    const outcomes = { thrown: 0, values: 0 }
    let longest = 0
    for (let i = 0; i < times; i++) {
      const bytes = mutated(real[i % real.length]!, random)
      const from = performance.now()
      try {
        const value =
          i % 2 === 0 ? codec.decode(bytes) : (codec.decodeFrozen ?? codec.decode)(bytes)
        outcomes.values++
        if (i % 16 < 2) expectHarmless(value)
      } catch (error) {
        if (!(error instanceof Error)) throw error
        if (error.name === 'AssertionError') throw error
        outcomes.thrown++
      }
      longest = Math.max(longest, performance.now() - from)
    }
    expect(outcomes.thrown + outcomes.values).toBe(times)
    expect(outcomes.thrown).toBeGreaterThan(times / 10)
    expect(longest).toBeLessThan(1_000)
    expect(process.memoryUsage().rss - before).toBeLessThan(256 * 1024 ** 2)
    expect([Object.keys(Object.prototype), Object.keys(Array.prototype)]).toEqual([[], []])
    expect(codec.decode(real[0]!)).toStrictEqual(of[0])
  })
})

test('of 100,000 mutated sealed inputs none is opened', () => {
  const { seal } = encrypted({ keys: { a: Buffer.alloc(32, 7) } }) as CodecPort
  const real = Buffer.from(seal!.close(Buffer.from('a value'), 'k'))
  const random = randomFrom(0x1234567)
  let opened = 0
  for (let i = 0; i < times; i++) {
    const bytes = mutated(real, random)
    if (bytes.equals(real)) continue
    try {
      seal!.open(bytes, 'k')
      opened++
    } catch {
      // As it must.
    }
  }
  expect(opened).toBe(0)
})
