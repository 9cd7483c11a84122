// Every algorithm by itself: what comes out is what went in, and bytes that lie take nothing.

import { readFileSync } from 'node:fs'
import * as zlib from 'node:zlib'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { compressions } from '../../src/compression/compressions.ts'
import { zstd, zstdInJavaScript } from '../../src/compression/zstd.ts'
import { BreakwaterError } from '../../src/index.ts'
import { page } from '../support/products.ts'

const names = ['gzip', 'brotli', 'lz4', 'snappy', ...(zstd === undefined ? [] : ['zstd'])]
const { decompress: inJavaScript } = zstdInJavaScript()
const golden = (name: string): Buffer => readFileSync(new URL(`../golden/${name}`, import.meta.url))
/** Which one depends on the algorithm. */
const reason = /./
const text = Buffer.from(JSON.stringify(page(1)))

describe.each(names)('%s', (name) => {
  const compression = compressions.named(name, 'algorithm')

  it('gives back what was compressed, in this turn and beside it', async () => {
    const anything = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
      fc.nat({ max: 100_000 }).map((length) => Buffer.alloc(length + 1, 'ab')),
    )
    await fc.assert(
      fc.asyncProperty(anything, async (bytes) => {
        const small = compression.compress(bytes)
        expect(Buffer.compare(compression.decompress(small, bytes.length), bytes)).toBe(0)
        const aside = await compression.compressAside(bytes)
        const back = await compression.decompressAside(aside, bytes.length)
        expect(Buffer.compare(back, bytes)).toBe(0)
      }),
    )
  })

  it('makes a page of products less than half as large', () => {
    expect(compression.compress(text).length).toBeLessThan(text.length / 2)
  })

  it('is read by the number that is in the frame', () => {
    const small = compression.compress(text)
    const reader = compressions.numbered(compression.id)!
    expect(Buffer.compare(reader.decompress(small, text.length), text)).toBe(0)
  })

  it.each([-1, 1, 1_000_000])('refuses bytes that give %i more than is claimed', async (more) => {
    const small = compression.compress(text)
    const claimed = text.length - more
    expect(() => compression.decompress(small, Math.max(1, claimed))).toThrow(reason)
    await expect(compression.decompressAside(small, Math.max(1, claimed))).rejects.toThrow(reason)
  })

  it('does not allocate what hostile bytes say that they are', () => {
    const bomb = compression.compress(Buffer.alloc(20 * 1024 * 1024))
    const before = process.memoryUsage()
    expect(() => compression.decompress(bomb, 10_000)).toThrow(reason)
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1024 * 1024)
    for (const claim of [0xffffffff, 0x7fffffff]) {
      const lying = Buffer.concat([Buffer.alloc(4), compression.compress(text)])
      lying.writeUInt32LE(claim)
      expect(() => compression.decompress(lying, 10_000)).toThrow(reason)
    }
  })

  it('never hangs on bytes that were changed, and gives nothing of another length', () => {
    const small = compression.compress(text)
    fc.assert(
      fc.property(fc.nat(small.length - 1), fc.nat(255), fc.nat(small.length), (at, to, cut) => {
        const changed = Buffer.from(small.subarray(0, cut))
        if (at < changed.length) changed[at] = to
        let back: Uint8Array
        try {
          back = compression.decompress(changed, text.length)
        } catch {
          return
        }
        expect(back.length).toBe(text.length)
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('the golden files', () => {
  // What each algorithm's own tool, or an earlier version of ours, has written.
  it.each(['gzip', 'brotli', 'lz4', 'snappy'])('of %s is read', (name) => {
    const { decompress } = compressions.named(name, 'algorithm')
    expect(Buffer.compare(decompress(golden(`page.${name}`), text.length), text)).toBe(0)
  })

  it('of zstd is read, whether this Node.js has it or not', async () => {
    const reader = compressions.numbered(3)!
    const small = golden('page.zstd')
    expect(Buffer.compare(reader.decompress(small, text.length), text)).toBe(0)
    expect(Buffer.compare(await reader.decompressAside(small, text.length), text)).toBe(0)
    expect(Buffer.compare(inJavaScript(small, text.length), text)).toBe(0)
  })
})

describe('zstd in JavaScript', () => {
  const small = golden('page.zstd')

  it.each([1, text.length - 1, text.length + 1, 1e9])('refuses a claim of %i bytes', (length) => {
    expect(() => inJavaScript(small, length)).toThrow(reason)
  })

  it('refuses many frames in a row, which would each be as large', () => {
    expect(() => inJavaScript(Buffer.concat([small, small]), text.length)).toThrow(reason)
  })

  it('ends on whatever comes, and allocates what is claimed at most', () => {
    fc.assert(
      fc.property(fc.nat(small.length - 1), fc.nat(255), fc.nat(small.length), (at, to, cut) => {
        const changed = Buffer.from(small.subarray(0, cut))
        if (at < changed.length) changed[at] = to
        try {
          expect(inJavaScript(changed, text.length).length).toBe(text.length)
        } catch {
          // A miss.
        }
      }),
      { numRuns: 3_000 },
    )
  })
})

describe('an algorithm', () => {
  it('that nobody knows is refused with all that are', () => {
    const refusal = () => compressions.named('lzma', 'compress.algorithm')
    expect(refusal).toThrow(BreakwaterError)
    expect(refusal).toThrow("compress.algorithm: expected one of 'gzip', 'brotli', 'zstd'")
  })

  it('that this process cannot write is refused with what it would need', () => {
    if (zstd !== undefined) return
    expect(() => compressions.named('zstd', 'compress.algorithm')).toThrow(
      'compress.algorithm: expected Node.js 22.15 or 23.8, or newer',
    )
  })

  it('is by default zstd where Node.js has it, else gzip', () => {
    const has = 'zstdCompressSync' in zlib
    expect(compressions.usual.name).toBe(has ? 'zstd' : 'gzip')
  })

  it('that no version has written has no number', () => {
    expect([0, 6, 99, 127].map((id) => compressions.numbered(id))).toEqual(Array(4).fill(undefined))
  })
})
