// msgpackr's native part is optional. Without it, other code reads the text, and what it made of a
// byte order mark was found by this test: it dropped it.

import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { messagePack } from '../../src/codecs/msgpack.ts'
import { anyValue } from '../support/any-value.ts'

vi.hoisted(() => {
  process.env['MSGPACKR_NATIVE_ACCELERATION_DISABLED'] = 'true'
})

const copyOf = (value: unknown): unknown => messagePack.decode(messagePack.encode(value))

test('MessagePack keeps text of any length and kind without its native part (T111)', async () => {
  const { isNativeAccelerationEnabled } = await import('msgpackr')
  expect(isNativeAccelerationEnabled).toBe(false)
  for (const unit of ['x', 'é', '€', '😀', '\0', '\ud800', '\ufeff', 'a\ufeff', '\ufeffa']) {
    for (const times of [1, 3, 15, 16, 31, 32, 64, 65, 255, 256, 5_000, 66_000]) {
      const text = unit.repeat(times)
      expect(copyOf([text, { [text]: text }])).toStrictEqual([text, { [text]: text }])
    }
  }
})

test('MessagePack keeps any value without its native part', () => {
  fc.assert(
    fc.property(anyValue, (value) => {
      const copy = copyOf([value, value])
      const same = Buffer.compare(messagePack.encode(copy), messagePack.encode([value, value]))
      expect(same === 0 || isDeepStrictEqual(copy, [value, value])).toBe(true)
    }),
    { numRuns: 500 },
  )
})
