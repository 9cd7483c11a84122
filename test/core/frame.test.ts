import { readFileSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { frameLayout, openFrame, packFrame, packHead, plainBody } from '../../src/core/frame.ts'
import type { Body, OpenedFrame } from '../../src/core/frame.ts'
import type { Head } from '../../src/core/head.ts'

const plain: Head = {
  stamp: 'AAAAAAAAAAAAAAAAAAAA_-',
  startedAt: 1_700_000_000_000,
  storedAt: 1_700_000_000_250.5,
  freshUntil: 1_700_000_060_250.5,
  staleWhileRevalidateMs: 30_000,
  staleIfErrorMs: 3_600_000,
  deltaMs: 250.5,
  asOf: 1_700_000_000_000_123,
  negative: false,
  uncacheable: undefined,
  tags: [],
  meta: undefined,
}
const full: Head = {
  ...plain,
  negative: true,
  uncacheable: 'unstorable',
  tags: ['category:keyboards', '', 'größe 😀'],
  meta: Uint8Array.of(0xa3, 0x61, 0x62, 0x63),
}

const time = fc.double({ min: -1e13, max: 1e16, noNaN: true }).map((at) => at + 0)
const span = fc.double({ min: 0, max: 1e13, noNaN: true }).map((ms) => ms + 0)
const anyHead: fc.Arbitrary<Head> = fc.record({
  stamp: fc.string({
    unit: fc.constantFrom(...'ABCXYZabcxyz0189_-'),
    minLength: 22,
    maxLength: 22,
  }),
  startedAt: time,
  storedAt: time,
  freshUntil: time,
  staleWhileRevalidateMs: span,
  staleIfErrorMs: span,
  deltaMs: span,
  asOf: time,
  negative: fc.boolean(),
  uncacheable: fc.constantFrom(undefined, 'noStore', 'private', 'unstorable'),
  tags: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 5 }),
  meta: fc.option(fc.uint8Array({ maxLength: 50 }), { nil: undefined }),
})
const anyBody: fc.Arbitrary<Body> = fc
  .record({
    codec: fc.nat({ max: 255 }),
    payload: fc.uint8Array(),
    compression: fc.nat({ max: 63 }),
    isSealed: fc.boolean(),
    isApart: fc.boolean(),
    longer: fc.nat({ max: 100_000 }),
  })
  .map(({ longer, ...body }) => {
    const isPlain = body.compression === 0 && !body.isSealed && !body.isApart
    return { ...body, rawLength: body.payload.length + (isPlain ? 0 : longer) }
  })

function opened(bytes: Uint8Array): Extract<OpenedFrame, { type: 'frame' }> {
  const frame = openFrame(bytes, crc32)
  if (frame.type !== 'frame') throw new Error(`unreadable: ${frame.why}`)
  return frame
}

function withExpiredAt(bytes: Uint8Array, at: number): Uint8Array {
  const copy = Buffer.from(bytes)
  copy.writeDoubleBE(at, frameLayout.expiredAtAt)
  return copy
}

describe('a frame', () => {
  test('gives back what was packed', () => {
    fc.assert(
      fc.property(anyHead, anyBody, (head, body) => {
        const bytes = packFrame(head, body, crc32)
        const frame = opened(bytes)
        expect(frame.head).toEqual(head)
        const { codec, compression, isSealed, isApart, rawLength } = frame
        expect({ ...body, codec, compression, isSealed, isApart, rawLength }).toEqual(body)
        expect(Buffer.compare(frame.payload, body.payload)).toBe(0)
        expect(Buffer.compare(bytes.subarray(0, frame.bodyOffset), packHead(head, crc32))).toBe(0)
      }),
    )
  })

  test('is read from a plain Uint8Array inside a bigger buffer as well', () => {
    const bytes = packFrame(full, plainBody(2, Uint8Array.of(1, 2, 3)), crc32)
    const big = new Uint8Array(bytes.length + 20).fill(0xff)
    big.set(bytes, 7)
    const frame = opened(big.subarray(7, 7 + bytes.length))
    expect(frame.head).toEqual(full)
    expect([...frame.payload]).toEqual([1, 2, 3])
  })

  test('takes a new head before its old body', () => {
    const old = packFrame(full, plainBody(1, Uint8Array.of(9, 8)), crc32)
    const head = packHead({ ...plain, tags: ['renewed'] }, crc32)
    const frame = opened(Buffer.concat([head, old.subarray(opened(old).bodyOffset)]))
    expect(frame.head).toEqual({ ...plain, tags: ['renewed'] })
    expect([...frame.payload]).toEqual([9, 8])
  })

  test('does not keep the bytes that it was opened from alive through its meta', () => {
    const bytes = packFrame(full, plainBody(1, new Uint8Array(0)), crc32)
    const { meta } = opened(bytes).head
    bytes.fill(0)
    expect([...meta!]).toEqual([0xa3, 0x61, 0x62, 0x63])
    expect(meta!.buffer.byteLength).toBe(4)
  })

  test.each([
    { expiredAt: 0, expected: plain.freshUntil },
    { expiredAt: plain.freshUntil - 1, expected: plain.freshUntil - 1 },
    { expiredAt: plain.freshUntil + 1, expected: plain.freshUntil },
  ])('expired at $expiredAt is fresh until $expected', ({ expiredAt, expected }) => {
    const bytes = packFrame(plain, plainBody(1, new Uint8Array(3)), crc32)
    expect(opened(withExpiredAt(bytes, expiredAt)).head).toEqual({ ...plain, freshUntil: expected })
  })

  test.each([NaN, Infinity, -1])('with expiredAt %s is unreadable', (expiredAt) => {
    const bytes = packFrame(plain, plainBody(1, new Uint8Array(3)), crc32)
    expect(openFrame(withExpiredAt(bytes, expiredAt), crc32)).toEqual({
      type: 'unreadable',
      why: 'corrupt',
    })
  })

  test.each(['freshUntil', 'storedAt', 'staleIfErrorMs', 'deltaMs', 'asOf'] as const)(
    'whose %s is NaN is unreadable, not eternal (T042)',
    (field) => {
      const bytes = packFrame({ ...plain, [field]: NaN }, plainBody(1, threeBytes), crc32)
      expect(openFrame(bytes, crc32)).toEqual({ type: 'unreadable', why: 'corrupt' })
    },
  )

  test('with a stamp of another length is refused when it is packed', () => {
    expect(() => packHead({ ...plain, stamp: 'short' }, crc32)).toThrow('stamp: expected 22')
  })
})

const threeBytes = new Uint8Array(3)

describe('bytes that are no frame of ours', () => {
  const bytes = packFrame(full, plainBody(1, Buffer.from('the value')), crc32)

  function changed(change: (copy: Buffer) => void): OpenedFrame {
    const copy = Buffer.from(bytes)
    change(copy)
    return openFrame(copy, crc32)
  }

  test('are a miss when the end is missing, wherever that is (T118)', () => {
    for (let length = 0; length < bytes.length; length++) {
      const frame = openFrame(bytes.subarray(0, length), crc32)
      expect(frame).toEqual({ type: 'unreadable', why: 'truncated' })
    }
  })

  test('are never taken for another head or value when one byte is flipped', () => {
    const expected = openFrame(bytes, crc32)
    for (let at = 0; at < bytes.length; at++) {
      for (let mask = 1; mask < 256; mask++) {
        const frame = changed((copy) => (copy[at]! ^= mask))
        if (frame.type === 'unreadable') continue
        const inExpiredAt = at >= frameLayout.expiredAtAt && at < frameLayout.stampAt
        if (!inExpiredAt) expect.unreachable(`byte ${at} ^ ${mask} was read`)
        expect(frame.head.freshUntil).toBeLessThanOrEqual(full.freshUntil)
        expect({ ...frame, head: { ...frame.head, freshUntil: full.freshUntil } }).toEqual(expected)
      }
    }
  })

  test('are a miss when something follows them', () => {
    const longer = Buffer.concat([bytes, Buffer.from('x')])
    expect(openFrame(longer, crc32).type).toBe('unreadable')
  })

  test.each([
    { name: 'text', given: Buffer.from('{"a":1}'), why: 'foreign' },
    { name: 'nothing', given: new Uint8Array(0), why: 'truncated' },
    { name: 'only a b', given: Buffer.from('b'), why: 'truncated' },
    { name: 'our magic alone', given: Buffer.from('bw'), why: 'truncated' },
    { name: 'a later version', given: Buffer.from('bw\x02'), why: 'newer' },
    { name: 'an earlier version', given: Buffer.from('bw\x00'), why: 'older' },
  ])('are told apart: $name is $why (T115, T118)', ({ given, why }) => {
    expect(openFrame(given, crc32)).toEqual({ type: 'unreadable', why })
  })

  test('with flags that we do not know yet are newer', () => {
    const sealed = (copy: Buffer): void => {
      const at = copy.readUInt32BE(frameLayout.headLengthAt)
      const headSeed = ((copy[frameLayout.flagsAt]! << 24) ^ at) >>> 0
      copy.writeUInt32BE(crc32(copy.subarray(20, at), headSeed), 8)
    }
    const flagged = changed((copy) => {
      copy[frameLayout.flagsAt]! |= 8
      sealed(copy)
    })
    expect(flagged).toEqual({ type: 'unreadable', why: 'newer' })
  })

  test('never make it throw or hang, with every checksum right or none', () => {
    const always = () => 0
    const prefix = Buffer.from(packHead(plain, always))
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat({ max: 104 }), (noise, from) => {
        const hostile = Buffer.concat([prefix.subarray(0, from), noise])
        openFrame(hostile, crc32)
        openFrame(hostile, always)
      }),
      { numRuns: 2000 },
    )
  })

  test.each([
    { name: 'head length', at: 4, size: 4 },
    { name: 'tag count', at: 98, size: 2 },
    { name: 'tag length', at: 100, size: 2 },
  ])('with a huge $name are refused before anything is allocated', ({ at, size }) => {
    const always = () => 0
    const hostile = Buffer.from(packFrame(full, plainBody(1, threeBytes), always))
    hostile.fill(0xff, at, at + size)
    expect(openFrame(hostile, always).type).toBe('unreadable')
  })
})

describe('the golden file of version 1', () => {
  const golden = new URL('../golden/frame-v1.bin', import.meta.url)
  const payload = Buffer.from([0xa5, 0x68, 0x65, 0x6c, 0x6c, 0x6f])

  test('is read as it was on the day it was written', () => {
    const frame = opened(readFileSync(golden))
    expect(frame.head).toEqual(full)
    expect(frame.codec).toBe(1)
    expect(Buffer.compare(frame.payload, payload)).toBe(0)
  })

  test('is what is written today', () => {
    const bytes = packFrame(full, plainBody(1, payload), crc32)
    expect(Buffer.compare(bytes, readFileSync(golden))).toBe(0)
  })
})
