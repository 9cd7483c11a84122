import { expect, it } from 'vitest'
import { tagsIn } from '../../../src/http/labels-in.ts'
import type { Fields } from '../../../src/http/message.ts'

const many = (count: number) => Array.from({ length: count }, (_, index) => `t${index}`)

it.each<{ says: string; given: Fields; expected: readonly string[] | 'too-many' }>([
  { says: 'without fields there are none', given: {}, expected: [] },
  {
    says: 'empty fields have none',
    given: { 'surrogate-key': ' ', 'cache-tag': ' , ' },
    expected: [],
  },
  {
    says: 'spaces separate those of `Surrogate-Key`',
    given: { 'surrogate-key': ' a  b\tc ' },
    expected: ['a', 'b', 'c'],
  },
  {
    says: 'commas separate those of `Cache-Tag`',
    given: { 'cache-tag': 'a, b c ,,d' },
    expected: ['a', 'b c', 'd'],
  },
  {
    says: 'commas stay in `Surrogate-Key`',
    given: { 'surrogate-key': 'a,b c' },
    expected: ['a,b', 'c'],
  },
  {
    says: 'lines are joined, however they were',
    given: { 'surrogate-key': 'a b, c', 'cache-tag': ['d', 'e,f'] },
    expected: ['a', 'b', 'c', 'd', 'e', 'f'],
  },
  {
    says: 'each counts once',
    given: { 'surrogate-key': 'a a b', 'cache-tag': 'b, a' },
    expected: ['a', 'b'],
  },
  { says: 'case counts', given: { 'surrogate-key': 'a A' }, expected: ['a', 'A'] },
  {
    says: 'tags that begin with @ are tags',
    given: { 'surrogate-key': '@* @r:x' },
    expected: ['@*', '@r:x'],
  },
  {
    says: 'a thousand are kept',
    given: { 'surrogate-key': many(1_000).join(' ') },
    expected: many(1_000),
  },
  {
    says: 'over a thousand are too many',
    given: { 'cache-tag': many(1_001).join(',') },
    expected: 'too-many',
  },
  {
    says: 'a long tag is kept',
    given: { 'surrogate-key': 'x'.repeat(1_024) },
    expected: ['x'.repeat(1_024)],
  },
  {
    says: 'a longer one cannot be',
    given: { 'surrogate-key': `a ${'x'.repeat(1_025)}` },
    expected: 'too-many',
  },
  {
    says: 'one that reads otherwise in bytes cannot be',
    given: { 'cache-tag': 'é' },
    expected: 'too-many',
  },
])('$says', ({ given, expected }) => {
  expect(tagsIn(given)).toEqual(expected)
})
