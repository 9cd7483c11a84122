// 100,000 frames with something changed in them, for each codec with each compression: none of them
// is an exception, none a wrong value, none pollutes. With checksums made right again (as by somebody
// who means harm) what comes out may be another value, and nothing worse.

import { describe, expect, it } from 'vitest'
import { json } from '../../src/codecs/json.ts'
import { msgpack } from '../../src/codecs/msgpack.ts'
import { v8 } from '../../src/codecs/v8.ts'
import { encrypted } from '../../src/codecs/encrypted.ts'
import type { CompressionName } from '../../src/index.ts'
import type { Unpacked } from '../../src/cache/unpack.ts'
import type { Codec } from '../../src/ports.ts'
import { Random } from '../../src/simulate/random.ts'
import { page } from '../support/products.ts'
import { signed } from '../support/raw-frames.ts'
import { unpacking } from '../support/unpacking.ts'

const seed = Number(process.env['MUTATION_SEED'] ?? Date.now() % 1e9)
const runs = Number(process.env['MUTATIONS'] ?? 100_000)

/** Of the tests below, together. */
const each = 20

const algorithms: (CompressionName | false)[] = [false, 'gzip', 'brotli', 'lz4', 'snappy']
const codecs: Record<string, Codec> = {
  msgpack: msgpack(),
  json: json(),
  v8: v8(),
  encrypted: encrypted({ keys: { k1: Buffer.alloc(32, 7) } }),
}

const value = {
  page: page(1, 6),
  map: new Map<unknown, unknown>([['k', new Set([1, 'b'])]]),
  big: 2n ** 80n,
  at: new Date(5),
  text: ['\ud800', '~#date', ''],
  bytes: Buffer.from([1, 2, 3]),
  own: JSON.parse('{"__proto__": {"polluted": 1}, "constructor": 2}') as unknown,
}

async function readerAndFrame(codec: string, algorithm: CompressionName | false) {
  const compress = algorithm === false ? (false as const) : { over: 100, algorithm }
  const { read, frame } = unpacking({ codec: codecs[codec]!, compress })
  return { read, frame: await frame(value) }
}

/** One to three changes: a bit, a byte, a piece cut out, doubled, or moved; an end that is missing. */
function mutated(frame: Uint8Array, random: Random): Buffer {
  let bytes = Buffer.from(frame)
  for (let n = 1 + random.below(3); n > 0; n--) {
    const at = random.below(bytes.length)
    const to = Math.min(bytes.length, at + 1 + random.below(20))
    switch (random.below(6)) {
      case 0:
        bytes[at]! ^= 1 << random.below(8)
        break
      case 1:
        bytes[at] = random.below(256)
        break
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(to)])
        break
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, to), bytes.subarray(at)])
        break
      case 4:
        bytes = Buffer.from(bytes.subarray(0, at))
        break
      default:
        bytes.fill(random.below(2) * 255, at, to)
    }
    if (bytes.length === 0) break
  }
  return bytes
}

describe.each(Object.keys(codecs))('%s', (codec) => {
  it.each(algorithms)(
    `with %s: whatever is changed is a miss or the value itself (seed ${seed}, MUTATION_SEED)`,
    async (algorithm) => {
      const { read, frame } = await readerAndFrame(codec, algorithm)
      const whole = (await read(frame)) as Unpacked
      expect(whole.value).toEqual(value)
      const random = new Random(seed)
      let same = 0
      for (let run = 0; run < runs / each; run++) {
        const reading = read(mutated(frame, random))
        const found = reading instanceof Promise ? await reading : reading
        if (found.type === 'unread') continue
        same++
        // `expiredAt` alone is under no checksum, and only ever shortens a life.
        expect({ ...found.head, freshUntil: 0 }).toEqual({ ...whole.head, freshUntil: 0 })
        expect(found.head.freshUntil).toBeLessThanOrEqual(whole.head.freshUntil)
        expect(found.value).toEqual(value)
      }
      expect(same).toBeLessThan(runs / 50)
    },
  )

  it.each(algorithms)(
    `with %s: signed again, it is at worst another value (seed ${seed}, MUTATION_SEED)`,
    async (algorithm) => {
      const { read, frame } = await readerAndFrame(codec, algorithm)
      const random = new Random(seed + 1)
      for (let run = 0; run < runs / each; run++) {
        const reading = read(signed(mutated(frame, random)))
        const found = reading instanceof Promise ? await reading : reading
        if (found.type === 'unpacked') expect(typeof found.head.freshUntil).toBe('number')
      }
      expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
      expect(Object.prototype).not.toHaveProperty('polluted')
    },
  )
})
