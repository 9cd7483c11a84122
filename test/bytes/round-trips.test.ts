// Generated values by each codec through each compression, as frames: what is read is what was
// written, whatever the reader itself compresses with.

import { create } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { crc32 } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { json } from '../../src/codecs/json.ts'
import { msgpack } from '../../src/codecs/msgpack.ts'
import { protobuf } from '../../src/codecs/protobuf.ts'
import { v8 } from '../../src/codecs/v8.ts'
import { zstd } from '../../src/compression/zstd.ts'
import { openFrame } from '../../src/core/frame.ts'
import { defineCodec, type CompressionName } from '../../src/index.ts'
import type { Codec, CodecPort } from '../../src/ports.ts'
import { anyValue } from '../support/any-value.ts'
import { ProductSchema, type Product } from '../support/proto-types.ts'
import { unpacking } from '../support/unpacking.ts'

const algorithms: (CompressionName | false)[] = [false, 'gzip', 'brotli', 'lz4', 'snappy']
if (zstd !== undefined) algorithms.push('zstd')

const anyProduct: fc.Arbitrary<Product> = fc
  .record({
    name: fc.string({ unit: 'grapheme', maxLength: 500 }),
    price: fc.double({ noNaN: true }),
    stock: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
    soldInAll: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    image: fc.uint8Array({ maxLength: 2_000 }),
    tags: fc.array(fc.string(), { maxLength: 50 }),
    active: fc.boolean(),
  })
  .map((fields) => create(ProductSchema, fields))

const text = defineCodec<string>({
  name: 'text',
  id: 130,
  encode: (value) => Buffer.from(value, 'utf16le'),
  decode: (bytes) => Buffer.from(bytes).toString('utf16le'),
})

/** With lists that are worth compressing. */
const values = fc.oneof(
  { weight: 3, arbitrary: anyValue },
  {
    weight: 1,
    arbitrary: fc.array(fc.constantFrom('ab', 'ü', 7), { maxLength: 2_000, size: 'max' }),
  },
)

const codecs: Record<string, { codec: Codec; values: fc.Arbitrary<unknown> }> = {
  msgpack: { codec: msgpack(), values },
  json: { codec: json(), values },
  v8: { codec: v8(), values },
  'msgpack, encrypted': {
    codec: encrypted({ keys: { a: Buffer.alloc(32, 1) } }),
    values,
  },
  'json, encrypted': {
    codec: encrypted({ codec: json(), keys: { a: Buffer.alloc(32, 1) } }),
    values,
  },
  protobuf: { codec: protobuf(ProductSchema), values: anyProduct },
  'one of the user’s own': { codec: text, values: fc.string({ maxLength: 3_000 }) },
}

describe.each(Object.keys(codecs))('%s', (name) => {
  const { codec, values: ofCodec } = codecs[name]!

  it.each(algorithms)('with %s gives back what was written', async (algorithm) => {
    const compress = algorithm === false ? (false as const) : { over: 0, algorithm }
    const written = unpacking({ codec, compress })
    const reader = unpacking({ codec, compress: { over: 50, algorithm: 'gzip' } })
    let compressed = 0
    await fc.assert(
      fc.asyncProperty(ofCodec, async (value) => {
        let expected: unknown
        try {
          const port = codec as CodecPort
          expected = port.decode(port.encode(value))
        } catch {
          return // What it refuses stands in docs/codecs.md.
        }
        const frame = await written.frame(value)
        const found = await reader.read(frame)
        if (found.type !== 'unpacked') throw new Error(`unread: ${found.why}`)
        expect(found.value).toStrictEqual(expected)
        if (typeof value === 'string') expect(found.value).toBe(value)
        const opened = openFrame(frame, crc32)
        if (opened.type === 'frame' && opened.compression !== 0) compressed++
      }),
      { numRuns: 100 },
    )
    if (algorithm !== false && values === ofCodec) expect(compressed).toBeGreaterThan(0)
  })

  it('keeps null and undefined apart', async () => {
    const { frame, read } = unpacking({ codec })
    for (const value of [null, undefined]) {
      expect(await read(await frame(value))).toMatchObject({ type: 'unpacked', value })
    }
  })
})
