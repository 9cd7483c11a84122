import { describe, expect, it } from 'vitest'
import { freshened, isAbout, notModifiedFields, validators } from '../../../src/http/conditional.ts'
import type { Fields } from '../../../src/http/message.ts'
import { head, stored } from './records.ts'

const noon = 'Thu, 01 Jan 2026 12:00:00 GMT'
const before = 'Thu, 01 Jan 2026 11:59:59 GMT'

describe('validation with the source', () => {
  it.each<{ says: string; given: Fields; expected: Fields }>([
    {
      says: 'both validators are sent',
      given: { etag: 'W/"a"', 'last-modified': noon },
      expected: { 'if-none-match': 'W/"a"', 'if-modified-since': noon },
    },
    { says: 'one alone is sent', given: { etag: '"a"' }, expected: { 'if-none-match': '"a"' } },
    {
      says: 'what is none is not sent',
      given: { etag: 'a', 'last-modified': '0', date: noon },
      expected: {},
    },
  ])('RFC 9111, 4.3.1: $says', ({ given, expected }) => {
    expect(validators(stored(given))).toEqual(expected)
  })

  it.each<{ says: string; given: Fields; previous: Fields; expected: boolean }>([
    {
      says: 'the same strong tag',
      given: { etag: '"a"' },
      previous: { etag: '"a"' },
      expected: true,
    },
    {
      says: 'another strong tag',
      given: { etag: '"b"' },
      previous: { etag: '"a"' },
      expected: false,
    },
    {
      says: 'a strong tag, and a weak one of ours',
      given: { etag: '"a"' },
      previous: { etag: 'W/"a"' },
      expected: false,
    },
    {
      says: 'a strong tag, and none of ours',
      given: { etag: '"a"' },
      previous: {},
      expected: false,
    },
    {
      says: 'the same weak tag',
      given: { etag: 'W/"a"' },
      previous: { etag: 'W/"a"' },
      expected: true,
    },
    {
      says: 'a weak tag of our strong one',
      given: { etag: 'W/"a"' },
      previous: { etag: '"a"' },
      expected: true,
    },
    {
      says: 'the same date',
      given: { 'last-modified': noon },
      previous: { 'last-modified': noon },
      expected: true,
    },
    {
      says: 'another date',
      given: { 'last-modified': noon },
      previous: { 'last-modified': before },
      expected: false,
    },
    { says: 'no validator: it answers ours', given: {}, previous: { etag: '"a"' }, expected: true },
  ])(
    'RFC 9111, 4.3.4: 304 with $says: it is about ours: $expected',
    ({ given, previous, expected }) => {
      expect(isAbout(head(given, 304), stored(previous))).toBe(expected)
    },
  )

  it('RFC 9111, 3.2: the fields of a 304 stand in place of those that were stored', () => {
    const previous = stored({
      'cache-control': 'max-age=1',
      expires: before,
      'x-kept': '1',
      link: ['a', 'b'],
    })
    const fields = { 'cache-control': 'max-age=2', date: noon, link: 'c', 'x-new': '2' }
    expect(freshened(previous, head(fields, 304))).toEqual({
      'cache-control': 'max-age=2',
      expires: before,
      'x-kept': '1',
      link: 'c',
      date: noon,
      'x-new': '2',
    })
  })

  it('RFC 9111, 3.2: what belongs to the body is not changed by a 304', () => {
    const ofBody = { 'content-encoding': 'br', 'content-type': 'text/html', etag: '"a"' }
    const fields = {
      'content-encoding': 'gzip',
      'content-type': 'text/plain',
      'content-length': '0',
      'content-range': 'bytes 0-1/2',
      etag: 'W/"a"',
    }
    expect(freshened(stored(ofBody), head(fields, 304))).toEqual(ofBody)
  })

  it('RFC 9111, 3.2: fields of the connection do not come in by a 304', () => {
    const fields = { connection: 'x-hop', 'x-hop': '1', age: '5', 'keep-alive': 'x' }
    expect(freshened(stored({ a: '1' }), head(fields, 304))).toEqual({ a: '1' })
  })
})

it('RFC 9110, 15.4.5: a 304 carries what guides caches, and nothing of the body', () => {
  const guiding = {
    'cache-control': 'max-age=1',
    'content-location': '/a',
    date: noon,
    etag: '"a"',
    expires: noon,
    vary: 'accept',
    'content-security-policy': "default-src 'self'",
    'access-control-allow-origin': '*',
  }
  const ofBody = {
    'content-type': 'text/html',
    'content-encoding': 'br',
    'content-language': 'de',
    'content-length': '10',
    'last-modified': before,
  }
  expect(notModifiedFields(stored({ ...guiding, ...ofBody }))).toEqual(guiding)
})

it('RFC 9110, 15.4.5: without a tag a 304 carries the date of the last change', () => {
  const fields = { 'last-modified': before, 'content-type': 'text/html' }
  expect(notModifiedFields(stored(fields))).toEqual({ 'last-modified': before })
})
