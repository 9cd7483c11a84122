// Messages between processes as bytes.

import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { BusMessage } from '../../src/ports.ts'
import { decodeMessage, encodeBump, encodeMessage } from '../../src/redis/message.ts'

const token = fc.string({
  unit: fc.constantFrom('a', 'Z', '0', '_', '-'),
  minLength: 22,
  maxLength: 22,
})
const key = fc.string({ unit: 'binary', maxLength: 100 })
const anyKey = fc.oneof(key, fc.constantFrom('', '\ud800', '%', '{}', 'a\udfffb'))
const error = fc.string({ unit: 'grapheme' })
const message: fc.Arbitrary<BusMessage> = fc.oneof(
  fc.record({
    type: fc.constant('published' as const),
    key: anyKey,
    token,
    frame: fc.option(fc.uint8Array({ minLength: 1, maxLength: 1_024 }), { nil: undefined }),
  }),
  fc.record({
    type: fc.constant('failed' as const),
    key: anyKey,
    token,
    error,
    backoffMs: fc.nat(),
  }),
  fc.record({
    type: fc.constant('released' as const),
    key: anyKey,
    token,
    why: fc.constantFrom('abort', 'overload', 'late', 'private', 'unstorable', 'close'),
  }),
  fc.record({
    type: fc.constantFrom(
      'invalidated' as const,
      'expired' as const,
      'written' as const,
      'wanted' as const,
    ),
    key: anyKey,
    id: token,
  }),
  fc.record({ type: fc.constant('beat' as const), n: fc.nat(), through: error }),
  fc.record({ type: fc.constant('rollCall' as const), id: token }),
  fc.record({ type: fc.constant('present' as const), id: token, text: error }),
  fc.record({
    type: fc.constant('bumped' as const),
    id: token,
    kind: fc.constantFrom('gone' as const, 'expired' as const, 'settle' as const),
    labels: fc.array(fc.string({ unit: 'grapheme', maxLength: 300 }), { maxLength: 5 }),
    epoch: fc.double({ min: 0, max: 9e15, noNaN: true }),
    previous: fc.double({ min: 0, max: 9e15, noNaN: true }),
    until: fc.double({ min: 0, max: 9e15, noNaN: true }),
  }),
)

/** A change by tag is put together by the script that makes it. */
function bytesOf(one: BusMessage): Buffer {
  if (one.type !== 'bumped') return encodeMessage(one)
  const { head, tail } = encodeBump({ ...one, known: 0, settleMs: 0 })
  const numbers = Buffer.alloc(24)
  numbers.writeDoubleBE(one.epoch, 0)
  numbers.writeDoubleBE(one.previous, 8)
  numbers.writeDoubleBE(one.until, 16)
  return Buffer.concat([head, numbers, tail])
}

function plain(one: BusMessage | undefined): unknown {
  if (one?.type !== 'published' || one.frame === undefined) return one
  return { ...one, frame: [...one.frame] }
}

it('what is sent is what arrives', () => {
  fc.assert(
    fc.property(message, (sent) => {
      expect(plain(decodeMessage(bytesOf(sent)))).toEqual(plain(sent))
    }),
  )
})

it('bytes of others are ignored, and never an exception', () => {
  fc.assert(
    fc.property(message, fc.nat(), fc.uint8Array({ maxLength: 60 }), (sent, cut, noise) => {
      const bytes = bytesOf(sent)
      decodeMessage(bytes.subarray(0, cut % (bytes.length + 1)))
      decodeMessage(noise)
      decodeMessage(Buffer.concat([bytes.subarray(0, 3), noise]))
    }),
  )
})

it('a message of another version is ignored', () => {
  const bytes = encodeMessage({ type: 'invalidated', key: 'k', id: 'x'.repeat(22) })
  bytes[1] = 0x32
  expect(decodeMessage(bytes)).toBeUndefined()
})
