// Frames as they were written on the day of their version: whatever changes, they are read, or they
// are a miss that says so. `WRITE_GOLDEN=1` writes those that are missing, and never touches the rest.

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { json } from '../../src/codecs/json.ts'
import { msgpack } from '../../src/codecs/msgpack.ts'
import { defineCodec } from '../../src/index.ts'
import { page } from '../support/products.ts'
import { plainHead, unpacking, type Options } from '../support/unpacking.ts'

const value = {
  page: page(1, 10),
  at: new Date(1_700_000_000_000),
  map: new Map<unknown, unknown>([['k', new Set([1n, 'b', 2n ** 80n])]]),
  numbers: [0, -0, NaN, 1.5, -1, 2 ** 31, 2 ** 53],
  text: ['', 'ü', '😀', '\ud800', '~#date'],
  bytes: Buffer.from([0, 1, 255]),
  none: [null, undefined],
}

const keys = { k1: Buffer.alloc(32, 1), k2: Buffer.alloc(32, 2) }
const upper = defineCodec<string>({
  name: 'upper',
  id: 200,
  encode: (text) => Buffer.from(text.toUpperCase()),
  decode: (bytes) => Buffer.from(bytes).toString().toLowerCase(),
})

const goldens: Record<string, { options: Options; value?: unknown }> = {
  msgpack: { options: { codec: msgpack(), compress: false } },
  json: { options: { codec: json(), compress: false } },
  'msgpack-gzip': { options: { codec: msgpack(), compress: { over: 0, algorithm: 'gzip' } } },
  'json-brotli': { options: { codec: json(), compress: { over: 0, algorithm: 'brotli' } } },
  'msgpack-lz4': { options: { codec: msgpack(), compress: { over: 0, algorithm: 'lz4' } } },
  'msgpack-snappy': { options: { codec: msgpack(), compress: { over: 0, algorithm: 'snappy' } } },
  'sealed-gzip': {
    options: {
      codec: encrypted({ keys, use: 'k1' }),
      compress: { over: 0, algorithm: 'gzip' },
    },
  },
  own: { options: { codec: upper, compress: false }, value: 'golden' },
}

const fileOf = (name: string) => new URL(`../golden/frame-v1-${name}.bin`, import.meta.url)

describe.each(Object.keys(goldens))('the golden frame of %s', (name) => {
  const { options, value: expected = value } = goldens[name]!
  const { read, frame } = unpacking(options)

  it('is read as it was written', async () => {
    if (process.env['WRITE_GOLDEN'] === '1' && !existsSync(fileOf(name))) {
      writeFileSync(fileOf(name), await frame(expected))
    }
    const found = await read(readFileSync(fileOf(name)))
    expect(found).toMatchObject({ type: 'unpacked', value: expected })
    expect(found.type === 'unpacked' && found.head).toEqual(plainHead)
  })

  it('is what is written today, as far as that is always the same', async () => {
    if (name.startsWith('sealed')) return // other random bytes each time
    const written = Buffer.from(await frame(expected))
    const golden = readFileSync(fileOf(name))
    if (options.compress === false) expect(written.equals(golden)).toBe(true)
    // Another version of a compressor may be better at it.
    else expect(written.subarray(0, 140).equals(golden.subarray(0, 140))).toBe(true)
  })
})

it('a sealed frame is read as long as its key is known, and then is a miss', async () => {
  const golden = readFileSync(fileOf('sealed-gzip'))
  const rotated = unpacking({ codec: encrypted({ keys, use: 'k2' }) })
  expect(await rotated.read(golden)).toMatchObject({ type: 'unpacked', value })
  const retired = unpacking({ codec: encrypted({ keys: { k2: keys.k2 } }) })
  expect(await retired.read(golden)).toEqual({ type: 'unread', why: 'undecodable' })
  expect(await unpacking({}).read(golden)).toEqual({ type: 'unread', why: 'sealed' })
})
