import { expect, it } from 'vitest'
import { directivesOf } from '../../../src/http/directives.ts'

const targets = ['breakwater-cache-control', 'cdn-cache-control']

it.each([
  {
    says: '2.2: without targeted fields, `Cache-Control` counts',
    given: { 'cache-control': 'max-age=1' },
    expected: 'max-age=1',
    isTargeted: false,
  },
  {
    says: '2.2: a targeted field stands in place of `Cache-Control`',
    given: { 'cdn-cache-control': 'max-age=2', 'cache-control': 'no-store' },
    expected: 'max-age=2',
    isTargeted: true,
  },
  {
    says: '2.2: the first of the list counts',
    given: { 'cdn-cache-control': 'max-age=2', 'breakwater-cache-control': 'max-age=3' },
    expected: 'max-age=3',
    isTargeted: true,
  },
  {
    says: '2.2: fields that are not on the list change nothing',
    given: { 'other-cdn-cache-control': 'max-age=2', 'cache-control': 'max-age=1' },
    expected: 'max-age=1',
    isTargeted: false,
  },
  {
    says: '2.2: an empty one is passed over',
    given: { 'breakwater-cache-control': ' ', 'cdn-cache-control': 'max-age=2' },
    expected: 'max-age=2',
    isTargeted: true,
  },
  {
    says: '2.1: an invalid one is passed over, all of it',
    given: { 'cdn-cache-control': 'max-age=2, "x"', 'cache-control': 'max-age=1' },
    expected: 'max-age=1',
    isTargeted: false,
  },
  {
    says: '2.1: names in capitals are no Structured Field',
    given: { 'cdn-cache-control': 'Max-Age=2', 'cache-control': 'max-age=1' },
    expected: 'max-age=1',
    isTargeted: false,
  },
  {
    says: '2.1: an age that is no integer is not there',
    given: { 'cdn-cache-control': 'max-age="2", s-maxage=1.5, stale-if-error, public' },
    expected: 'public',
    isTargeted: true,
  },
  {
    says: '2.1: what is said to be false is not there',
    given: { 'cdn-cache-control': 'no-store=?0, max-age=2' },
    expected: 'max-age=2',
    isTargeted: true,
  },
  {
    says: '2.1: parameters are of no meaning',
    given: { 'cdn-cache-control': 'max-age=2;x=1, private;y' },
    expected: 'max-age=2, private',
    isTargeted: true,
  },
  {
    says: '2.1: texts and tokens are arguments',
    given: { 'cdn-cache-control': 'no-cache="a, b", x=y' },
    expected: 'no-cache="a, b", x=y',
    isTargeted: true,
  },
  {
    says: '2.1: what restricts does so with any value',
    given: { 'cdn-cache-control': 'private=:AA==:, x=:AA==:, y=(1 2)' },
    expected: 'private',
    isTargeted: true,
  },
  {
    says: '2.1: of members of one name the last counts, as Structured Fields have it',
    given: { 'cdn-cache-control': 'max-age=2, max-age=3' },
    expected: 'max-age=3',
    isTargeted: true,
  },
  {
    says: '2.1: several lines are one list',
    given: { 'cdn-cache-control': ['max-age=2', 'private'] },
    expected: 'max-age=2, private',
    isTargeted: true,
  },
])('RFC 9213, $says', ({ given, expected, isTargeted }) => {
  const directives = directivesOf(given, targets)
  expect(String(directives)).toBe(expected)
  expect(directives.isTargeted).toBe(isTargeted)
})

it('an age below zero in a targeted field is stale', () => {
  const directives = directivesOf({ 'cdn-cache-control': 'max-age=-1' }, targets)
  expect(directives.seconds('max-age')).toBe(0)
})
