// The hash of guards: the reference's vectors, and what texts become.

import { describe, expect, it } from 'vitest'
import { sipHash, sipHashText, sipKey } from '../../src/core/siphash.ts'
import { digestBytes } from '../../src/guard/digest-bytes.ts'
import { sipHash13of128 } from './siphash-vectors.ts'

const count = (length: number) => Uint8Array.from({ length }, (_, n) => n)
const key = sipKey(count(16))
const hex = (text: string, by = key) =>
  digestBytes([sipHashText(text, by, new Uint32Array(4))]).toString('hex')

describe('SipHash-1-3-128', () => {
  it('gives what the reference implementation gives', () => {
    const given = sipHash13of128.map((_, length) =>
      digestBytes([sipHash(count(64), length, key, new Uint32Array(4))]).toString('hex'),
    )
    expect(given).toEqual(sipHash13of128)
  })

  it('hashes text as its UTF-8, however long and whatever is in it', () => {
    for (const text of [
      '',
      'a',
      'ö',
      '日本',
      '😀',
      'x'.repeat(64),
      'x'.repeat(65),
      'ö'.repeat(9_000),
    ]) {
      const bytes = Buffer.from(text)
      const whole = digestBytes([sipHash(bytes, bytes.length, key, new Uint32Array(4))])
      expect(hex(text)).toBe(whole.toString('hex'))
    }
  })

  it('gives something else with another key', () => {
    expect(hex('id-1', sipKey(new Uint8Array(16)))).not.toBe(hex('id-1'))
  })
})
