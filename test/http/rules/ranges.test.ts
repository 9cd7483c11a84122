import { describe, expect, it } from 'vitest'
import type { Fields } from '../../../src/http/message.ts'
import { rangeOf } from '../../../src/http/ranges.ts'
import { get, stored } from './records.ts'

const noon = 'Thu, 01 Jan 2026 12:00:00 GMT'
const before = 'Thu, 01 Jan 2026 11:59:59 GMT'

function range(text: string, size: number) {
  return rangeOf(get({ range: text }), stored({}, { size }))
}

describe('bytes', () => {
  it.each([
    { says: '14.1.2: the first byte', given: 'bytes=0-0', expected: { start: 0, end: 0 } },
    { says: '14.1.2: the last byte', given: 'bytes=9-9', expected: { start: 9, end: 9 } },
    { says: '14.1.2: all bytes', given: 'bytes=0-9', expected: { start: 0, end: 9 } },
    { says: '14.1.2: an open end', given: 'bytes=4-', expected: { start: 4, end: 9 } },
    { says: '14.1.2: an end over the end', given: 'bytes=4-10', expected: { start: 4, end: 9 } },
    {
      says: '14.1.2: an end over all numbers',
      given: `bytes=4-${'9'.repeat(400)}`,
      expected: { start: 4, end: 9 },
    },
    { says: '14.1.2: the last bytes', given: 'bytes=-3', expected: { start: 7, end: 9 } },
    {
      says: '14.1.2: more last bytes than there are',
      given: 'bytes=-11',
      expected: { start: 0, end: 9 },
    },
    { says: '14.1.2: no last bytes', given: 'bytes=-0', expected: 'unsatisfiable' },
    { says: '14.1.2: a start at the end', given: 'bytes=10-', expected: 'unsatisfiable' },
    {
      says: '14.1.2: a start over all numbers',
      given: `bytes=${'9'.repeat(400)}-`,
      expected: 'unsatisfiable',
    },
    {
      says: '14.1: the name of a unit is of any case',
      given: 'Bytes=0-1',
      expected: { start: 0, end: 1 },
    },
    { says: '14.1.1: the wrong way round is invalid', given: 'bytes=5-4', expected: undefined },
    { says: '14.1.1: a range of nothing is invalid', given: 'bytes=-', expected: undefined },
    { says: '14.1.1: below zero is invalid', given: 'bytes=--1', expected: undefined },
    { says: '14.1.1: letters are invalid', given: 'bytes=a-b', expected: undefined },
    { says: '14.1.1: no unit is invalid', given: '0-1', expected: undefined },
    { says: '14.2: other units are ignored', given: 'lines=0-1', expected: undefined },
    {
      says: '14.2: several ranges get the whole answer',
      given: 'bytes=0-1,4-5',
      expected: undefined,
    },
    {
      says: '17.15: hundreds of ranges get the whole answer',
      given: `bytes=${'0-,'.repeat(1_000)}0-`,
      expected: undefined,
    },
  ])('T142 RFC 9110, $says', ({ given, expected }) => {
    expect(range(given, 10)).toEqual(expected)
  })

  it.each([
    { given: 'bytes=0-', expected: 'unsatisfiable' },
    { given: 'bytes=0-0', expected: 'unsatisfiable' },
    { given: 'bytes=-1', expected: undefined },
  ])('RFC 9110, 14.1.2: `$given` of an empty body is $expected', ({ given, expected }) => {
    expect(range(given, 0)).toBe(expected)
  })

  it('without `Range` the answer is whole', () => {
    expect(rangeOf(get(), stored())).toBeUndefined()
  })

  it.each(['HEAD', 'POST'])('RFC 9110, 14.2: %s has no ranges', (method) => {
    expect(rangeOf(get({ range: 'bytes=0-1' }, method), stored())).toBeUndefined()
  })

  it.each([203, 204, 301, 404, 410])('RFC 9110, 14.2: a stored %i has no ranges', (status) => {
    expect(rangeOf(get({ range: 'bytes=0-1' }), stored({}, { status }))).toBeUndefined()
  })
})

it.each<{ says: string; given: string; response: Fields; isPart: boolean }>([
  { says: 'the same strong tag', given: '"a"', response: { etag: '"a"' }, isPart: true },
  { says: 'another tag', given: '"b"', response: { etag: '"a"' }, isPart: false },
  { says: 'no tag of ours', given: '"a"', response: {}, isPart: false },
  { says: 'the same weak tag', given: 'W/"a"', response: { etag: 'W/"a"' }, isPart: false },
  {
    says: 'a strong tag of our weak one',
    given: '"a"',
    response: { etag: 'W/"a"' },
    isPart: false,
  },
  { says: 'two tags', given: '"a", "b"', response: { etag: '"a"' }, isPart: false },
  { says: 'an empty condition', given: '', response: { etag: '"a"' }, isPart: false },
  {
    says: 'the same date, a second before `Date`',
    given: before,
    response: { 'last-modified': before, date: noon },
    isPart: true,
  },
  {
    says: 'the same date, of the second of `Date`',
    given: noon,
    response: { 'last-modified': noon, date: noon },
    isPart: false,
  },
  {
    says: 'the same date without `Date`',
    given: before,
    response: { 'last-modified': before },
    isPart: false,
  },
  {
    says: 'a later date',
    given: noon,
    response: { 'last-modified': before, date: noon },
    isPart: false,
  },
])(
  'RFC 9110, 13.1.5: `If-Range` with $says gives a part: $isPart',
  ({ given, response, isPart }) => {
    const request = get({ range: 'bytes=0-1', 'if-range': given })
    expect(rangeOf(request, stored(response))).toEqual(isPart ? { start: 0, end: 1 } : undefined)
  },
)
