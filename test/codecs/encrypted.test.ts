import { createSecretKey, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { encrypted } from '../../src/codecs/encrypted.ts'
import { json, jsonCodec } from '../../src/codecs/json.ts'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { BreakwaterError } from '../../src/core/errors.ts'
import type { CodecPort, Seal } from '../../src/ports.ts'

const one = randomBytes(32)
const two = randomBytes(32)
const sealWith = (keys: Record<string, Uint8Array>, use?: string): Seal =>
  (encrypted({ keys, ...(use === undefined ? {} : { use }) }) as CodecPort).seal!

const seal = sealWith({ a: one })
const secret = Buffer.from('a secret that is in no sealed bytes')

describe('sealed bytes', () => {
  test('open as what they were, of any length, and look like noise', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.string(), (bytes, context) => {
        const sealed = seal.close(bytes, context)
        expect(sealed).toHaveLength(bytes.length + 46 + 'a'.length)
        expect(Buffer.compare(seal.open(sealed, context), bytes)).toBe(0)
      }),
    )
    const sealed = Buffer.from(seal.close(secret, 'shop:1'))
    expect(sealed.includes('secret')).toBe(false)
    expect(sealed.includes(one)).toBe(false)
    expect(seal.close(secret, 'shop:1')).not.toEqual(sealed)
  })

  test.each([65_535, 65_536, 65_537, 200_001])('may be long: %d bytes', (length) => {
    const bytes = randomBytes(length)
    const sealed = Buffer.from(seal.close(bytes, 'k'))
    expect(Buffer.compare(seal.open(sealed, 'k'), bytes)).toBe(0)
    sealed[sealed.length - 17]! ^= 1
    expect(() => seal.open(sealed, 'k')).toThrow(Error)
  })

  test('are not opened when any byte has changed, or is missing, or is one too many', () => {
    const sealed = Buffer.from(seal.close(secret, 'shop:1'))
    for (let i = 0; i < sealed.length; i++) {
      for (const bit of [1, 0x80]) {
        const changed = Buffer.from(sealed)
        changed[i]! ^= bit
        expect(() => seal.open(changed, 'shop:1')).toThrow(Error)
      }
      expect(() => seal.open(sealed.subarray(0, i), 'shop:1')).toThrow(Error)
    }
    expect(() => seal.open(Buffer.concat([sealed, Buffer.of(0)]), 'shop:1')).toThrow(Error)
  })

  test('are not opened as another entry: a frame cannot be moved', () => {
    const sealed = seal.close(secret, 'shop:product:1')
    for (const other of ['shop:product:2', 'shop:product:', '', 'shop:product:11']) {
      expect(() => seal.open(sealed, other)).toThrow(Error)
    }
  })

  test('are opened in any copy and place, and the one they came in may be overwritten', () => {
    const sealed = Buffer.concat([Buffer.alloc(7), seal.close(secret, 'k'), Buffer.alloc(9)])
    const opened = seal.open(new Uint8Array(sealed.subarray(7, -9)), 'k')
    const inside = seal.open(sealed.subarray(7, -9), 'k')
    sealed.fill(0)
    expect([Buffer.from(opened), Buffer.from(inside)]).toEqual([secret, secret])
  })

  test('of no making at all are refused', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
        expect(() => seal.open(bytes, 'k')).toThrow(Error)
        expect(() => seal.open(Buffer.from([1, 1, 97, ...bytes]), 'k')).toThrow(Error)
      }),
    )
  })
})

describe('keys', () => {
  test('change in three steps, during which every process reads every frame', () => {
    const before = sealWith({ 2025: one })
    const both = sealWith({ 2025: one, 2026: two }, '2025')
    const changed = sealWith({ 2025: one, 2026: two }, '2026')
    const after = sealWith({ 2026: two })
    const old = before.close(secret, 'k')
    for (const reader of [before, both, changed]) expect(reader.open(old, 'k')).toEqual(secret)
    const fresh = changed.close(secret, 'k')
    for (const reader of [both, changed, after]) expect(reader.open(fresh, 'k')).toEqual(secret)
    expect(() => after.open(old, 'k')).toThrow('sealed with a key that is not known')
    expect(() => before.open(fresh, 'k')).toThrow('sealed with a key that is not known')
  })

  test('are the same key in every form', () => {
    const sealed = seal.close(secret, 'k')
    const forms = [
      new Uint8Array(one),
      createSecretKey(one),
      one.toString('hex'),
      one.toString('hex').toUpperCase(),
      one.toString('base64'),
      one.toString('base64url'),
    ]
    for (const key of forms) {
      const same = (encrypted({ keys: { a: key } }) as CodecPort).seal!
      expect(same.open(sealed, 'k')).toEqual(secret)
    }
  })

  test('of another value under the same id do not open', () => {
    expect(() => sealWith({ a: two }).open(seal.close(secret, 'k'), 'k')).toThrow(Error)
  })

  test('may be overwritten by their owner afterwards', () => {
    const mine = Buffer.from(one)
    const own = sealWith({ a: mine })
    mine.fill(0)
    expect(own.open(seal.close(secret, 'k'), 'k')).toEqual(secret)
  })
})

describe('encrypted()', () => {
  test('is its inner codec in all but the seal', () => {
    const wrapped = encrypted({ keys: { a: one } }) as CodecPort
    expect(wrapped).toMatchObject({ id: messagePack.id, name: messagePack.name })
    expect(wrapped.decodeFrozen).toBe(messagePack.decodeFrozen)
    expect(wrapped.decodeInPieces).toBe(messagePack.decodeInPieces)
    expect(wrapped.decode(wrapped.encode({ at: new Date(5) }))).toEqual({ at: new Date(5) })
    const inJson = encrypted({ keys: { a: one }, codec: json() }) as CodecPort
    expect(inJson.id).toBe(jsonCodec.id)
    expect('seal' in messagePack || 'seal' in jsonCodec).toBe(false)
  })

  const hex = one.toString('hex')
  test.each([
    { options: undefined, said: 'encrypted: expected { keys, use, codec }' },
    { options: { keys: {} }, said: 'encrypted: keys: expected at least one key' },
    { options: { keys: hex }, said: "encrypted: keys: expected an object of keys by their ids, as in { '2026': key }" },
    { options: { keys: one }, said: "encrypted: keys: expected an object of keys by their ids, as in { '2026': key }" },
    { options: { keys: { a: one.subarray(1) } }, said: 'encrypted: keys: expected 32 bytes each, or their text in hexadecimal or base64, got 31 bytes' },
    { options: { keys: { a: createSecretKey(randomBytes(16)) } }, said: 'encrypted: keys: expected 32 bytes each, or their text in hexadecimal or base64, got a KeyObject of 16 bytes' },
    { options: { keys: { a: `${hex}0` } }, said: 'encrypted: keys: expected 32 bytes each, or their text in hexadecimal or base64, got a text of 65 characters that is neither' },
    { options: { keys: { a: undefined } }, said: 'encrypted: keys: expected 32 bytes each, or their text in hexadecimal or base64, got some undefined' },
    { options: { keys: { [hex]: 'a' } }, said: 'encrypted: keys: expected ids of 1 to 32 characters of A–Z, a–z, 0–9, dot, _ and -' },
    { options: { keys: { a: one, b: two } }, said: 'encrypted: use: expected the id of one of the 2 keys, since there are several' },
    { options: { keys: { a: one }, use: hex }, said: 'encrypted: use: expected the id of one of the keys' },
    { options: { keys: { a: one }, [hex]: 1 }, said: 'encrypted: expected no more than codec, keys, use' },
    { options: { keys: { a: one }, codec: {} }, said: 'encrypted: codec: expected what msgpack(), json() and the like give, got an object' },
    { options: { keys: { a: one }, codec: encrypted({ keys: { a: one } }) }, said: 'encrypted: codec: expected one that is not encrypted yet, got one that is' },
  ])('refuses at once, with nothing of a key in the text: $said', ({ options, said }) => {
    expect(() => encrypted(options as never)).toThrow(new BreakwaterError('INVALID_OPTION', said))
    expect(said.includes(hex.slice(0, 8))).toBe(false)
  }) // prettier-ignore
})
