import { expect, it } from 'vitest'
import { parseCacheControl } from '../../../src/http/cache-control.ts'

it.each([
  { says: '5.2: an absent field has no directives', given: undefined, expected: '' },
  { says: '5.2: an empty field has no directives', given: '', expected: '' },
  { says: '5.2: empty members are nothing', given: ' ,, ,\t,', expected: '' },
  { says: '5.2: names are of any case', given: 'No-STORE', expected: 'no-store' },
  { says: '5.2: an argument keeps its case', given: 'x=AbC', expected: 'x=AbC' },
  {
    says: '5.2: whitespace around members is nothing',
    given: '\tpublic , x ',
    expected: 'public, x',
  },
  { says: '5.2: tokens and quoted strings are the same', given: 'x="y"', expected: 'x=y' },
  {
    says: '5.2: a quoted comma separates nothing',
    given: 'x="a, no-store", y',
    expected: 'x="a, no-store", y',
  },
  {
    says: '5.2: quoted characters may be escaped',
    given: 'x="a\\"b\\\\c"',
    expected: 'x="a\\"b\\\\c"',
  },
  {
    says: '5.2.3: unknown directives are kept',
    given: 'community="UCI"',
    expected: 'community=UCI',
  },
  { says: '5.2: whitespace around = is tolerated', given: 'max-age = 5', expected: 'max-age=5' },
  { says: '5.2: directives given twice are both kept', given: 'x=1, x=2', expected: 'x=1, x=2' },
  {
    says: '5.2: a quote that nobody closes hides nothing',
    given: 'x="a, no-store',
    expected: 'x="\\"a", no-store',
  },
  {
    says: '5.2: a quote with text behind its end hides nothing',
    given: 'x="a, no-store, y="b"',
    expected: 'x="\\"a", no-store, y=b',
  },
  {
    says: '5.2.2.7: field names make `private` no weaker',
    given: 'private="set-cookie, x"',
    expected: 'private="set-cookie, x"',
  },
  {
    says: '5.2.2.5: an argument makes `no-store` no weaker',
    given: 'no-store=no',
    expected: 'no-store=no',
  },
  { says: '5.2.2.5: `no-store` in quotes restricts', given: '"no-store"', expected: 'no-store' },
  {
    says: '5.2.2.7: `private` behind a semicolon restricts',
    given: 'public; private',
    expected: 'private',
  },
  {
    says: '5.2.2.7: `private` behind an age and a semicolon restricts',
    given: 'max-age=5; private',
    expected: 'max-age="5; private", private',
  },
  {
    says: '5.2: no member is taken from inside of a word',
    given: 'x-no-store, no-storefront',
    expected: 'x-no-store, no-storefront',
  },
  {
    says: '5.2: names that objects have are names as others',
    given: '__proto__=1, constructor',
    expected: '__proto__=1, constructor',
  },
])('RFC 9111, $says', ({ given, expected }) => {
  const directives = parseCacheControl(given)
  expect(String(directives)).toBe(expected)
  expect(directives.isEmpty).toBe(expected === '')
  expect(directives.isTargeted).toBe(false)
})

it.each([
  { says: '1.2.2: a number of seconds', given: 'max-age=60', expected: 60 },
  { says: '1.2.2: zero', given: 'max-age=0', expected: 0 },
  { says: '1.2.2: leading zeros are of no meaning', given: 'max-age=007', expected: 7 },
  { says: '5.2: a quoted number is a number', given: 'max-age="60"', expected: 60 },
  { says: '1.2.2: the largest number', given: 'max-age=2147483648', expected: 2147483648 },
  {
    says: '1.2.2: what is larger is the largest',
    given: 'max-age=2147483649',
    expected: 2147483648,
  },
  {
    says: '1.2.2: what overflows is the largest',
    given: `max-age=${'9'.repeat(400)}`,
    expected: 2147483648,
  },
  { says: '4.2.1: no argument is stale', given: 'max-age', expected: 0 },
  { says: '4.2.1: an empty argument is stale', given: 'max-age=', expected: 0 },
  { says: '4.2.1: below zero is stale', given: 'max-age=-1', expected: 0 },
  { says: '4.2.1: a fraction is stale', given: 'max-age=1.5', expected: 0 },
  { says: '4.2.1: an exponent is stale', given: 'max-age=1e3', expected: 0 },
  { says: '4.2.1: a unit is stale', given: 'max-age=60s', expected: 0 },
  { says: '4.2.1: two that differ are stale', given: 'max-age=60, max-age=61', expected: 0 },
  { says: '4.2.1: two that agree are one', given: 'max-age=60, max-age="60"', expected: 60 },
  {
    says: '4.2.1: one of two without a number is stale',
    given: 'max-age=60, max-age',
    expected: 0,
  },
  { says: '5.2: an absent directive is no number', given: 's-maxage=60', expected: undefined },
])('RFC 9111, $says', ({ given, expected }) => {
  expect(parseCacheControl(given).seconds('max-age')).toBe(expected)
})

it('of a directive given twice, the first argument is its text', () => {
  const directives = parseCacheControl('x=1, x=2, y, private="a"')
  expect(directives.text('x')).toBe('1')
  expect(directives.text('y')).toBeUndefined()
  expect(directives.has('y')).toBe(true)
  expect(directives.text('z')).toBeUndefined()
  expect(directives.text('private')).toBe('a')
})

it('a field as long as servers let through is read in time that does not grow with its square', () => {
  const pieces = ['a="', 'a="\\",', ' ', ',', '=', '"', 'a=', '\\', 'a="b"c', 'no-store;']
  for (const piece of pieces) {
    // Forty times what Node takes: were it the square, this would be minutes.
    parseCacheControl(piece.repeat(Math.ceil(600_000 / piece.length)))
  }
})
