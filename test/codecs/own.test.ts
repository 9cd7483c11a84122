import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { defineCodec } from '../../src/codecs/own.ts'
import type { OwnCodec } from '../../src/codecs/own.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { BreakwaterError } from '../../src/core/errors.ts'
import { Unstorable } from '../../src/core/unstorable.ts'
import { createCache } from '../../src/index.ts'
import type { CodecPort } from '../../src/ports.ts'

interface Point {
  x: number
  y: number
}

const points: OwnCodec<Point> = {
  name: 'points',
  id: 128,
  encode: ({ x, y }) => Float64Array.of(x, y) as unknown as Uint8Array,
  decode: (bytes) => ({ x: bytes.readDoubleLE(0), y: bytes.readDoubleLE(8) }),
}
const encode = ({ x, y }: Point): Uint8Array => new Uint8Array(Float64Array.of(x, y).buffer)
const codec = defineCodec({ ...points, encode }) as CodecPort
const copyOf = (value: unknown): unknown => codec.decode(codec.encode(value))

function saying(over: object): CodecPort {
  return defineCodec({ ...points, encode, ...over } as OwnCodec<Point>) as CodecPort
}

function unstorable(of: CodecPort): string {
  try {
    of.encode({ x: 1, y: 2 })
  } catch (error) {
    expect(error).toBeInstanceOf(Unstorable)
    return (error as Unstorable).message
  }
  return expect.unreachable('it was encoded')
}

describe('a codec of one’s own', () => {
  test('keeps what its functions keep', () => {
    fc.assert(
      fc.property(fc.record({ x: fc.double(), y: fc.double() }), (point) => {
        expect(copyOf(point)).toEqual(point)
      }),
    )
    expect([codec.id, codec.name]).toEqual([128, 'points'])
  })

  test('is never asked for null and undefined, which are kept apart (T055)', () => {
    const given: unknown[] = []
    const seen = saying({
      encode: (value: unknown) => (given.push(value), Buffer.of(1)),
      decode: (bytes: unknown) => (given.push(bytes), { x: 0, y: 0 }),
    })
    expect(seen.decode(seen.encode(null))).toBe(null)
    expect(seen.decode(seen.encode(undefined))).toBe(undefined)
    expect(given).toEqual([])
    expect(() => seen.decode(Buffer.alloc(0))).toThrow('malformed payload')
    expect(() => seen.decode(Buffer.from([7, 1]))).toThrow('malformed payload')
  })

  test('shares no memory: neither what it gave nor what it was given', () => {
    const working = Buffer.alloc(16)
    const pooled = saying({
      encode: ({ x, y }: Point) => (working.writeDoubleLE(x), working.writeDoubleLE(y, 8), working),
      decode: (bytes: Buffer) => bytes as unknown as Point,
    })
    const first = Buffer.from(pooled.encode({ x: 1, y: 2 }))
    pooled.encode({ x: 3, y: 4 })
    const kept = pooled.decode(first) as Buffer
    first.fill(0)
    expect([kept.readDoubleLE(0), kept.readDoubleLE(8)]).toEqual([1, 2])
    expect(kept.buffer.byteLength).toBe(16)
  })

  test('is called as a method of what it was defined by', () => {
    class Counting implements OwnCodec<Point> {
      readonly name = 'counting'
      readonly id = 200
      count = 0
      encode(value: Point): Uint8Array {
        this.count++
        return encode(value)
      }
      decode(bytes: Buffer): Point {
        return points.decode(bytes)
      }
    }
    const own = new Counting()
    const made = defineCodec(own) as CodecPort
    expect(made.decode(made.encode({ x: 1, y: 2 }))).toEqual({ x: 1, y: 2 })
    expect(own.count).toBe(1)
  })

  test.each([
    { name: 'what it throws', encode: () => { throw new Error('no z') }, said: '$: codec points: no z' },
    { name: 'text', encode: () => 'text', said: '$: codec points: expected a Uint8Array from encode, got "text"' },
    { name: 'nothing', encode: () => undefined, said: '$: codec points: expected a Uint8Array from encode, got undefined' },
    { name: 'a promise', encode: async () => Buffer.of(1), said: '$: codec points: expected a Uint8Array from encode, got Promise' },
    { name: 'wider elements', encode: points.encode, said: '$: codec points: expected a Uint8Array from encode, got Float64Array' },
    { name: 'another codec’s refusal', encode: () => messagePack.encode({ a: [() => 1] }), said: '$.a[0]: function' },
  ])('makes a value unstorable by $name (T120)', ({ encode, said }) => {
    expect(unstorable(saying({ encode }))).toBe(said)
  }) // prettier-ignore

  test('must not decode later', () => {
    const later = saying({ decode: async () => ({ x: 0, y: 0 }) })
    expect(() => later.decode(later.encode({ x: 1, y: 2 }))).toThrow(
      'codec points: decode must not be asynchronous',
    )
  })

  test.each([
    { over: { id: 127 }, said: 'defineCodec: id: expected a whole number from 128 to 255, got 127' },
    { over: { id: 256 }, said: 'defineCodec: id: expected a whole number from 128 to 255, got 256' },
    { over: { id: '128' }, said: 'defineCodec: id: expected a whole number from 128 to 255, got "128"' },
    { over: { name: '' }, said: 'defineCodec: name: expected a text of 1 to 32 characters, got ""' },
    { over: { encode: undefined }, said: 'defineCodec: encode: expected a function from value to bytes, got undefined' },
    { over: { decode: 5 }, said: 'defineCodec: decode: expected a function from bytes to value, got 5' },
    { over: { encoed: 5 }, said: 'defineCodec: expected no more than name, id, encode, decode, got "encoed"' },
  ])('is refused at once: $said', ({ over, said }) => {
    expect(() => saying(over)).toThrow(new BreakwaterError('INVALID_OPTION', said))
  }) // prettier-ignore

  test('serves a cache, misses and hits alike, and values that do not exist', async () => {
    const cache = createCache({ namespace: 'points', ttl: '60s' })
    const point = cache.define({
      name: 'point',
      codec: defineCodec({ ...points, encode }),
      load: (x: number): Point | null => (x < 0 ? null : Object.assign({ x, y: 0.5 }, { z: 3 })),
    })
    const miss = await point.get(1)
    expect(miss).toEqual({ x: 1, y: 0.5 })
    expect(await point.get(1)).toBe(miss)
    expect(await point.get(-1)).toBe(null)
    await cache.close()
  })
})
