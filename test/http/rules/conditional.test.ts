import { describe, expect, it } from 'vitest'
import {
  answersNotModified,
  isConditional,
  isConditionalForSource,
} from '../../../src/http/conditional.ts'
import type { Fields } from '../../../src/http/message.ts'
import { get, stored } from './records.ts'

const noon = 'Thu, 01 Jan 2026 12:00:00 GMT'
const before = 'Thu, 01 Jan 2026 11:59:59 GMT'
const after = 'Thu, 01 Jan 2026 12:00:01 GMT'

describe('a condition of a visitor', () => {
  it.each<{ says: string; request: Fields; response: Fields; expected: boolean }>([
    {
      says: '13.1.2: the same tag',
      request: { 'if-none-match': '"a"' },
      response: { etag: '"a"' },
      expected: true,
    },
    {
      says: '13.1.2: another tag',
      request: { 'if-none-match': '"b"' },
      response: { etag: '"a"' },
      expected: false,
    },
    {
      says: '13.1.2: one of several tags',
      request: { 'if-none-match': '"b", W/"c" , "a"' },
      response: { etag: '"a"' },
      expected: true,
    },
    {
      says: '13.1.2: tags on several lines',
      request: { 'if-none-match': ['"b"', '"a"'] },
      response: { etag: '"a"' },
      expected: true,
    },
    {
      says: '13.1.2: weak tags are compared weakly',
      request: { 'if-none-match': 'W/"a"' },
      response: { etag: '"a"' },
      expected: true,
    },
    {
      says: '13.1.2: weak tags of ours, too',
      request: { 'if-none-match': '"a"' },
      response: { etag: 'W/"a"' },
      expected: true,
    },
    { says: '13.1.2: a star', request: { 'if-none-match': '*' }, response: {}, expected: true },
    {
      says: '13.1.2: a tag, and none of ours',
      request: { 'if-none-match': '"a"' },
      response: {},
      expected: false,
    },
    {
      says: '13.1.2: a part of a tag with a comma',
      request: { 'if-none-match': '"a,b"' },
      response: { etag: '"b"' },
      expected: false,
    },
    {
      says: '8.8.3: tags without quotes are none',
      request: { 'if-none-match': 'a' },
      response: { etag: 'a' },
      expected: false,
    },
    {
      says: '8.8.3: tags are of one case',
      request: { 'if-none-match': '"A"' },
      response: { etag: '"a"' },
      expected: false,
    },
    {
      says: '13.1.3: the same date',
      request: { 'if-modified-since': noon },
      response: { 'last-modified': noon },
      expected: true,
    },
    {
      says: '13.1.3: an earlier change',
      request: { 'if-modified-since': noon },
      response: { 'last-modified': before },
      expected: true,
    },
    {
      says: '13.1.3: a later change',
      request: { 'if-modified-since': noon },
      response: { 'last-modified': after },
      expected: false,
    },
    {
      says: '13.1.3: an older form of dates',
      request: { 'if-modified-since': 'Thursday, 01-Jan-26 12:00:00 GMT' },
      response: { 'last-modified': noon },
      expected: true,
    },
    {
      says: '13.1.3: a date that is none',
      request: { 'if-modified-since': '2099' },
      response: { 'last-modified': noon },
      expected: false,
    },
    {
      says: '13.1.3: a change of no date',
      request: { 'if-modified-since': noon },
      response: { 'last-modified': '0' },
      expected: false,
    },
    {
      says: '13.1.3: no date of a change, though `Date`',
      request: { 'if-modified-since': noon },
      response: { date: noon },
      expected: false,
    },
    {
      says: '13.2.2: a tag comes before a date',
      request: { 'if-none-match': '"b"', 'if-modified-since': noon },
      response: { etag: '"a"', 'last-modified': noon },
      expected: false,
    },
    {
      says: '13.2.2: an empty tag comes before a date, too',
      request: { 'if-none-match': '', 'if-modified-since': noon },
      response: { 'last-modified': noon },
      expected: false,
    },
    {
      says: '13.1: no condition',
      request: {},
      response: { etag: '"a"', 'last-modified': noon },
      expected: false,
    },
    {
      says: '13.1.1: a condition for the source alone',
      request: { 'if-match': '"a"' },
      response: { etag: '"a"' },
      expected: false,
    },
    {
      says: '13.1.2: a visitor who reloads has it all the same',
      request: { 'if-none-match': '"a"', 'cache-control': 'no-cache' },
      response: { etag: '"a"' },
      expected: true,
    },
  ])('T139 RFC 9110, $says: answered with 304: $expected', ({ request, response, expected }) => {
    expect(answersNotModified(get(request), stored(response))).toBe(expected)
    expect(answersNotModified(get(request, 'HEAD'), stored(response))).toBe(expected)
  })

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('RFC 9110, 13.1.2: %s has no 304', (method) => {
    const request = get({ 'if-none-match': '"a"' }, method)
    expect(answersNotModified(request, stored({ etag: '"a"' }))).toBe(false)
  })

  it.each([203, 204, 301, 404, 410])('RFC 9110, 13.2.1: a stored %i has no 304', (status) => {
    const request = get({ 'if-none-match': '"a"' })
    expect(answersNotModified(request, stored({ etag: '"a"' }, { status }))).toBe(false)
  })

  it.each(['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since'])(
    'RFC 9110, 13.1: %s makes a request conditional',
    (name) => {
      expect(isConditional(get({ [name]: 'x' }))).toBe(true)
      expect(isConditional(get({ 'if-range': 'x', range: 'bytes=0-1' }))).toBe(false)
    },
  )

  it('RFC 9111, 4.3.2: `If-Match` and `If-Unmodified-Since` are for the source', () => {
    expect(isConditionalForSource(get({ 'if-match': '*' }))).toBe(true)
    expect(isConditionalForSource(get({ 'if-unmodified-since': noon }))).toBe(true)
    expect(isConditionalForSource(get({ 'if-none-match': '*', 'if-modified-since': noon }))).toBe(
      false,
    )
  })
})
