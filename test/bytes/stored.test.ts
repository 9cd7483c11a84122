// What stands in the store, and who can read it: whatever is set today, frames of yesterday are read.

import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { json } from '../../src/codecs/json.ts'
import { msgpack } from '../../src/codecs/msgpack.ts'
import { packFrame, plainBody } from '../../src/core/frame.ts'
import { crc } from '../../src/cache/values.ts'
import type { CacheEvents, CacheOptions, CompressionName } from '../../src/index.ts'
import { page } from '../support/products.ts'
import { rawFrames } from '../support/raw-frames.ts'
import { world } from '../support/two-processes.ts'

type Compress = CacheOptions['compress']

const algorithms: CompressionName[] = ['gzip', 'brotli', 'lz4', 'snappy']
const settings: Record<string, Compress> = {
  nothing: false,
  'by default': undefined,
  ...Object.fromEntries(algorithms.map((algorithm) => [algorithm, { over: 100, algorithm }])),
}
const numbers: Record<string, number> = { gzip: 1, brotli: 2, zstd: 3, lz4: 4, snappy: 5 }

async function writerAndReader(writes: Partial<CacheOptions>, reads: Partial<CacheOptions>) {
  const { clock, store, process } = world()
  const writer = await process(writes)
  const reader = await process(reads)
  const unread: CacheEvents['unreadable'][] = []
  reader.on('unreadable', (event) => unread.push(event))
  const raw = rawFrames(store, clock)
  const load = vi.fn(async () => 'loaded' as unknown)
  const define = (cache: typeof writer, load: () => Promise<unknown>) =>
    cache.define({ name: 'item', load: (_: string) => load() })
  return {
    clock,
    raw,
    unread,
    load,
    writer: define(writer, async () => 'of the writer'),
    reader: define(reader, load),
  }
}

describe.each(Object.keys(settings))('written with %s', (writing) => {
  it.each(Object.keys(settings))('is read by who compresses with %s (T117)', async (reading) => {
    const { writer, reader, load, unread } = await writerAndReader(
      { compress: settings[writing] },
      { compress: settings[reading], memory: false },
    )
    const values = { small: 'a', page: page(1), big: page(3, 2_000), none: null }
    for (const [key, value] of Object.entries(values)) {
      await writer.set(key, value)
      expect(await reader.get(key)).toEqual(value)
    }
    expect(load).not.toHaveBeenCalled()
    expect(unread).toEqual([])
  })
})

describe('a stored value', () => {
  it.each(algorithms)('over the threshold is compressed by %s', async (algorithm) => {
    const { writer, raw } = await writerAndReader({ compress: { algorithm } }, {})
    await writer.set('small', page(1, 5))
    await writer.set('page', page(1))
    const small = await raw.frame(writer.key('small'))
    expect(small).toMatchObject({ compression: 0, isSealed: false })
    const frame = await raw.frame(writer.key('page'))
    expect(frame.compression).toBe(numbers[algorithm])
    expect(frame.payload.length).toBeLessThan(frame.rawLength * 0.85)
  })

  it.each([1_000, 100_000, 1_000_000])('of %i random bytes is stored as it is', async (length) => {
    const { writer, reader, raw } = await writerAndReader({}, { memory: false })
    const bytes = Buffer.from(Array.from({ length }, (_, n) => Math.imul(n * n, 2654435761) >>> 24))
    for (let n = 0; n < length; n++) bytes[n]! ^= Math.floor(Math.random() * 256)
    await writer.set('bytes', bytes)
    const frame = await raw.frame(writer.key('bytes'))
    expect(frame.compression).toBe(0)
    expect(Buffer.compare((await reader.get('bytes')) as Buffer, bytes)).toBe(0)
  })

  it.each(['nothing', 'by default', ...algorithms])(
    'that is a Buffer is one when it is read, with %s, and takes no more than it is (T112)',
    async (setting) => {
      const { writer, reader, raw } = await writerAndReader(
        { compress: settings[setting] },
        { memory: false },
      )
      for (const length of [10, 5_000, 400_000]) {
        const bytes = Buffer.alloc(length, 'some bytes')
        await writer.set('bytes', bytes)
        const read = await reader.get('bytes')
        expect(Buffer.isBuffer(read)).toBe(true)
        expect(Buffer.compare(read as Buffer, bytes)).toBe(0)
        const { payload } = await raw.frame(writer.key('bytes'))
        expect(payload.length).toBeLessThanOrEqual(length * 1.4)
      }
    },
  )

  it('that is nothing but zeros is no bomb to its reader', async () => {
    const { writer, reader, raw } = await writerAndReader(
      { compress: { algorithm: 'brotli' } },
      { memory: false },
    )
    await writer.set('zeros', Buffer.alloc(4 * 1024 * 1024))
    const { payload, rawLength } = await raw.frame(writer.key('zeros'))
    expect(rawLength / payload.length).toBeLessThanOrEqual(1_024)
    expect(((await reader.get('zeros')) as Buffer).length).toBe(4 * 1024 * 1024)
  })

  it('is read by a definition that has another of our codecs by now', async () => {
    for (const [writes, reads] of [
      [json(), msgpack()],
      [msgpack(), json()],
    ]) {
      const { writer, reader, load } = await writerAndReader(
        { codec: writes! },
        { codec: reads!, memory: false },
      )
      const value = { at: new Date(0), pages: page(1) }
      await writer.set('a', value)
      expect(await reader.get('a')).toEqual(value)
      expect(load).not.toHaveBeenCalled()
    }
  })

  it('that was loaded and is big is given, stored and read elsewhere', async () => {
    const { process } = world()
    const [one, two] = [await process(), await process()]
    const value = page(7, 5_000)
    const load = vi.fn(async () => value)
    const [a, b] = [one, two].map((cache) => cache.define({ name: 'big', load }))
    const answers = await Promise.all([a!.get(), a!.get(), b!.get()])
    await Promise.all([one.idle(), two.idle()])
    for (const answer of answers) {
      expect(answer).toEqual(value)
      expect(Object.isFrozen(answer)).toBe(true)
      expect(Object.isFrozen(answer[4_000])).toBe(true)
    }
    expect(load).toHaveBeenCalledTimes(1)
  })

  it('that is big is a copy of each caller’s own with values: clone', async () => {
    const { writer, reader } = await writerAndReader({}, { values: 'clone' })
    const value = page(1, 3_000)
    await writer.set('a', value)
    const [one, two] = [await reader.get('a'), await reader.get('a')]
    expect(one).toEqual(value)
    expect(one).not.toBe(two)
  })
})

describe('a big value', () => {
  it('that is overtaken by an invalidation while it is made ready is not kept', async () => {
    const { process } = world()
    const [one, two] = [await process(), await process({ memory: false })]
    let version = 1
    const load = vi.fn(async () => [version, page(1, 5_000)] as const)
    const [a, b] = [one, two].map((cache) => cache.define({ name: 'big', load }))
    const first = a!.get()
    while (load.mock.results.length === 0) await Promise.resolve()
    await load.mock.results[0]!.value
    version = 2
    await b!.invalidate()
    expect((await first)[0]).toBe(1)
    await Promise.all([one.idle(), two.idle()])
    expect((await b!.get())[0]).toBe(2)
    expect((await a!.get())[0]).toBe(2)
  })

  it('that is set has replaced the older one when that is done', async () => {
    const { process } = world()
    const [one, two] = [await process(), await process({ memory: false })]
    const load = async (): Promise<unknown[]> => ['old']
    const [big, elsewhere] = [one, two].map((cache) => cache.define({ name: 'big', load }))
    await big!.get()
    const setting = big!.set(undefined, page(1, 5_000))
    await big!.get()
    await setting
    expect((await big!.get()).length).toBe(5_000)
    expect((await elsewhere!.get()).length).toBe(5_000)
  })

  it('names its definition when it has held the event loop', async () => {
    const { store } = world()
    const { createCache } = await import('../../src/index.ts')
    const cache = createCache({ namespace: 'test', ttl: '60s', store, maxBytes: '64MiB' })
    const told: CacheEvents['slowCodec'][] = []
    cache.on('slowCodec', (event) => told.push(event))
    const pages = cache.define({ name: 'pages', load: async () => page(1, 100_000) })
    await pages.get()
    expect(told[0]).toMatchObject({ name: 'pages', key: pages.key(), operation: 'encode' })
    expect(told[0]!.ms).toBeGreaterThanOrEqual(10)
    await cache.close()
  })
})

describe('a frame that is', () => {
  const valid = async () => {
    const made = await writerAndReader({ compress: false }, { memory: false, maxBytes: 10_000 })
    await made.writer.set('a', page(1))
    return { ...made, frame: await made.raw.frame(made.writer.key('a')) }
  }
  type Frame = Awaited<ReturnType<typeof valid>>['frame']

  it.each<{ name: string; why: string; forge: (frame: Frame) => Uint8Array }>([
    {
      name: 'larger than maxBytes when decompressed',
      why: 'too large',
      forge: ({ head, payload }) =>
        packFrame(head, { ...plainBody(1, payload), compression: 1, rawLength: 10_001 }, crc),
    },
    {
      name: 'larger than maxBytes as it is',
      why: 'too large',
      forge: ({ head }) => packFrame(head, plainBody(1, Buffer.alloc(12_000, 1)), crc),
    },
    {
      name: 'said to be more than a thousand times as large',
      why: 'undecodable',
      forge: ({ head }) =>
        packFrame(
          head,
          { ...plainBody(1, Buffer.alloc(9, 1)), compression: 1, rawLength: 9_999 },
          crc,
        ),
    },
    {
      name: 'compressed by what is not known here',
      why: 'compression',
      forge: ({ head, payload }) =>
        packFrame(head, { ...plainBody(1, payload), compression: 35 }, crc),
    },
    {
      name: 'of a codec that is not known here',
      why: 'codec',
      forge: ({ head, payload }) => packFrame(head, plainBody(77, payload), crc),
    },
    {
      name: 'encrypted',
      why: 'sealed',
      forge: ({ head, payload }) =>
        packFrame(head, { ...plainBody(1, payload), isSealed: true }, crc),
    },
    {
      name: 'no such compression at all',
      why: 'undecodable',
      forge: ({ head, payload }) =>
        packFrame(head, { ...plainBody(1, payload), compression: 1, rawLength: 5_000 }, crc),
    },
  ])('$name is a miss that says $why', async ({ why, forge }) => {
    const { raw, writer, reader, load, unread, frame } = await valid()
    const key = writer.key('a')
    await raw.write(key, forge(frame))
    expect(await reader.get('a')).toBe('loaded')
    expect(load).toHaveBeenCalledTimes(1)
    expect(unread).toEqual([expect.objectContaining({ name: 'item', key, why })])
    expect(await reader.get('a')).toBe('loaded')
    expect(load).toHaveBeenCalledTimes(1)
  })
})

it('what is written by any setting is read by any other', async () => {
  const setting = fc.constantFrom(...Object.values(settings))
  const codec = fc.constantFrom(undefined, json(), msgpack())
  const values = fc.constantFrom('freeze', 'clone') as fc.Arbitrary<'freeze' | 'clone'>
  const value = fc.oneof(
    fc.anything({ withBigInt: true, withDate: true, withMap: true, withSet: true }).filter(isKept),
    fc.array(fc.constantFrom('ab', 'ü', 7, null), { minLength: 500, maxLength: 40_000 }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.record({ compress: setting, codec, values }),
      fc.record({ compress: setting, codec, values }),
      value,
      async (writes, reads, given) => {
        const { writer, reader, load } = await writerAndReader(writes, { ...reads, memory: false })
        await writer.set('a', given)
        expect(await reader.get('a')).toEqual(await writer.get('a'))
        expect(load).not.toHaveBeenCalled()
      },
    ),
    { numRuns: 150 },
  )
})

/** Refused, or changed: see the table in docs/codecs.md. */
function isKept(value: unknown): boolean {
  return !JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'bigint' ? String(part) : part,
  )?.includes('toJSON')
}
