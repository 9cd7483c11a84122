import fc from 'fast-check'
import { expect, test } from 'vitest'
import { escapeKey, unescapeKey } from '../../src/core/escape.ts'

const anyText = fc.oneof(
  fc.string({ unit: fc.nat({ max: 0xffff }).map((code) => String.fromCharCode(code)) }),
  fc.string({
    unit: fc.constantFrom('%', '{', '}', 'u', 'D', '8', '0', '2', '5', '\ud83d', '\ude00'),
  }),
)

test('escaping is undone exactly, whatever the text (T127)', () => {
  fc.assert(fc.property(anyText, (text) => unescapeKey(escapeKey(text)) === text))
})

test('an escaped key has no brace and survives UTF-8', () => {
  fc.assert(
    fc.property(anyText, (text) => {
      const stored = escapeKey(text)
      expect(stored).not.toMatch(/[{}]/)
      expect(Buffer.from(stored, 'utf8').toString('utf8')).toBe(stored)
    }),
  )
})

test.each([
  { given: '', expected: '' },
  { given: 'r:trending:keyboards', expected: 'r:trending:keyboards' },
  { given: 'a b\nc:__proto__ 😀', expected: 'a b\nc:__proto__ 😀' },
  { given: '{user}:%', expected: '%7Buser%7D:%25' },
  { given: '\ud800', expected: '%uD800' },
  { given: 'x\udfff😀', expected: 'x%uDFFF😀' },
])('$given is stored as $expected', ({ given, expected }) => {
  expect(escapeKey(given)).toBe(expected)
  expect(unescapeKey(expected)).toBe(given)
})

test('what escaping never makes is left alone when it is undone', () => {
  expect(unescapeKey('100% %zz %u12 %7b')).toBe('100% %zz %u12 %7b')
})
