import { describe, expect, it } from 'vitest'
import { directivesOf } from '../../../src/http/directives.ts'
import { freshness } from '../../../src/http/freshness.ts'
import type { Fields } from '../../../src/http/message.ts'
import { bornAt, bornDate, head } from './records.ts'

const later = 'Thu, 01 Jan 2026 12:01:00 GMT'
const earlier = 'Thu, 01 Jan 2026 11:59:00 GMT'
const windows = { staleWhileRevalidateMs: 7_000, staleIfErrorMs: 8_000 }

function of(fields: Fields, { delayMs = 0, ttlMs = undefined as number | undefined } = {}) {
  const directives = directivesOf(fields, ['cdn-cache-control'])
  const times = { requestedAt: bornAt - delayMs, receivedAt: bornAt }
  return freshness({ head: head(fields), directives, ...times, ttlMs, windows })
}

describe('lifetime', () => {
  it.each([
    {
      says: 'RFC 9111, 5.2.2.1: `max-age` is the lifetime',
      given: { 'cache-control': 'max-age=60' },
      expected: 60_000,
    },
    {
      says: 'RFC 9111, 5.2.2.10: `s-maxage` comes before `max-age`',
      given: { 'cache-control': 'max-age=60, s-maxage=5' },
      expected: 5_000,
    },
    {
      says: 'RFC 9111, 5.2.2.10: an invalid `s-maxage` is stale',
      given: { 'cache-control': 'max-age=60, s-maxage=x' },
      expected: 0,
    },
    {
      says: 'RFC 9111, 5.3: `max-age` comes before `Expires`',
      given: { 'cache-control': 'max-age=5', expires: later },
      expected: 5_000,
    },
    {
      says: 'RFC 9111, 5.3: `Expires` counts from `Date`',
      given: { date: bornDate, expires: later },
      expected: 60_000,
    },
    {
      says: 'RFC 9111, 4.2.1: `Expires` and `Date` of a wrong clock have the lifetime between them',
      given: { date: later, expires: 'Thu, 01 Jan 2026 12:02:00 GMT' },
      expected: 60_000,
    },
    {
      says: 'RFC 9110, 6.6.1: without `Date`, `Expires` counts from when the answer came',
      given: { expires: later },
      expected: 60_000,
    },
    {
      says: 'RFC 9110, 6.6.1: with an invalid `Date`, as well',
      given: { date: 'x', expires: later },
      expected: 60_000,
    },
    {
      says: 'RFC 9111, 5.3: `Expires` equal to `Date` is stale',
      given: { date: bornDate, expires: bornDate },
      expected: 0,
    },
    {
      says: 'RFC 9111, 5.3: `Expires` before `Date` is stale',
      given: { date: bornDate, expires: earlier },
      expected: 0,
    },
    { says: 'RFC 9111, 5.3: `Expires: 0` is in the past', given: { expires: '0' }, expected: 0 },
    {
      says: 'RFC 9111, 5.3: an invalid `Expires` is in the past',
      given: { expires: '2099' },
      expected: 0,
    },
    {
      says: 'RFC 9111, 4.2.1: two `Expires` are stale',
      given: { expires: [later, later] },
      expected: 0,
    },
    {
      says: 'RFC 9111, 5.3: `Expires` is bounded as ages are',
      given: { date: bornDate, expires: 'Fri, 31 Dec 9999 23:59:59 GMT' },
      expected: 2 ** 31 * 1000,
    },
    {
      says: 'RFC 9213, 2.2: a targeted field stands in place of `Expires`',
      given: { 'cdn-cache-control': 'public', expires: later },
      expected: undefined,
    },
    {
      says: 'RFC 9213, 2.2: a targeted age counts',
      given: { 'cdn-cache-control': 'max-age=5', 'cache-control': 'max-age=60' },
      expected: 5_000,
    },
    {
      says: 'RFC 9111, 5.2.2.4: `no-cache` has no lifetime',
      given: { 'cache-control': 'no-cache, max-age=60' },
      expected: 0,
    },
    {
      says: 'RFC 9111, 5.2.2.4: `no-cache` with names of fields has none either',
      given: { 'cache-control': 'no-cache="x", max-age=60' },
      expected: 0,
    },
    {
      says: 'RFC 9111, 5.4: `Pragma` of an answer says nothing',
      given: { pragma: 'no-cache' },
      expected: undefined,
    },
    {
      says: 'RFC 9111, 4.2.2: no lifetime is guessed from `Last-Modified`',
      given: { 'last-modified': earlier, date: bornDate },
      expected: undefined,
    },
    {
      says: 'RFC 9111, 5.2.2.9: `public` is no lifetime',
      given: { 'cache-control': 'public' },
      expected: undefined,
    },
  ])('$says', ({ given, expected }) => {
    expect(of(given)).toMatchObject({ lifetimeMs: expected, isOwn: expected !== undefined })
  })

  it('without an age of its own an answer has the `ttl` of the route', () => {
    expect(of({}, { ttlMs: 9_000 })).toMatchObject({ lifetimeMs: 9_000, isOwn: false })
  })

  it('an age of its own, even 0, comes before the `ttl` of the route', () => {
    const fields = { 'cache-control': 'max-age=0' }
    expect(of(fields, { ttlMs: 9_000 })).toMatchObject({ lifetimeMs: 0, isOwn: true })
  })
})

describe('age', () => {
  it.each([
    {
      says: '4.2.3: an answer of this moment is new',
      given: { date: bornDate },
      delayMs: 0,
      expected: 0,
    },
    {
      says: '4.2.3: `Date` in the past is the age',
      given: { date: earlier },
      delayMs: 0,
      expected: 60_000,
    },
    {
      says: '4.2.3: `Date` in the future counts as now',
      given: { date: 'Fri, 01 Jan 2100 00:00:00 GMT' },
      delayMs: 0,
      expected: 0,
    },
    {
      says: '5.1: `Age` is the age',
      given: { date: bornDate, age: '30' },
      delayMs: 0,
      expected: 30_000,
    },
    {
      says: '4.2.3: the greater of both counts',
      given: { date: earlier, age: '30' },
      delayMs: 0,
      expected: 60_000,
    },
    {
      says: '4.2.3: the time on the way is added to `Age`',
      given: { age: '30' },
      delayMs: 1_500,
      expected: 31_500,
    },
    {
      says: '4.2.3: the time on the way counts without `Age`, too',
      given: {},
      delayMs: 1_500,
      expected: 1_500,
    },
    {
      says: '4.2.3: it is not added to the age by `Date`',
      given: { date: earlier },
      delayMs: 1_500,
      expected: 60_000,
    },
    {
      says: '4.2.3: a clock that was set back adds nothing',
      given: {},
      delayMs: -5_000,
      expected: 0,
    },
    {
      says: '5.1: of several ages the first counts',
      given: { age: '5, 30' },
      delayMs: 0,
      expected: 5_000,
    },
    { says: '5.1: an invalid age is ignored', given: { age: '-5' }, delayMs: 0, expected: 0 },
    { says: '5.1: a fraction is invalid', given: { age: '1.5' }, delayMs: 0, expected: 0 },
    {
      says: '1.2.2: an age is bounded',
      given: { age: '9'.repeat(30) },
      delayMs: 0,
      expected: 2 ** 31 * 1000,
    },
  ])('RFC 9111, $says', ({ given, delayMs, expected }) => {
    expect(of(given, { delayMs }).bornAt).toBe(bornAt - expected)
  })

  it('an answer of the second that runs has no age by its `Date`, which is cut to seconds', () => {
    const times = { requestedAt: bornAt + 999, receivedAt: bornAt + 999 }
    const of = { head: head({ date: bornDate }), directives: directivesOf({}, []), windows }
    expect(freshness({ ...of, ...times, ttlMs: 1 }).bornAt).toBe(bornAt + 999)
  })
})

describe('stale windows', () => {
  it.each([
    {
      says: 'RFC 9111, 4.2.4: without a word of the answer, the route allows',
      given: 'max-age=1',
      expected: [7, 8],
    },
    {
      says: 'RFC 5861, 3: `stale-while-revalidate` of the answer comes first',
      given: 'stale-while-revalidate=1',
      expected: [1, 8],
    },
    {
      says: 'RFC 5861, 4: `stale-if-error` of the answer comes first',
      given: 'stale-if-error=1',
      expected: [7, 1],
    },
    {
      says: 'RFC 5861, 3: an invalid window is none',
      given: 'stale-while-revalidate=x',
      expected: [0, 8],
    },
    {
      says: 'RFC 5861, 3: a window of 0 is none',
      given: 'stale-while-revalidate=0',
      expected: [0, 8],
    },
    {
      says: 'RFC 9111, 5.2.2.2: `must-revalidate` forbids both',
      given: 'must-revalidate, stale-if-error=5',
      expected: [0, 0],
    },
    {
      says: 'RFC 9111, 5.2.2.8: `proxy-revalidate` forbids both',
      given: 'proxy-revalidate, stale-if-error=5',
      expected: [0, 0],
    },
    {
      says: 'RFC 9111, 5.2.2.4: `no-cache` forbids both',
      given: 'no-cache, stale-if-error=5',
      expected: [0, 0],
    },
    {
      says: 'RFC 9111, 5.2.2.10: `s-maxage` forbids what the answer does not allow by name',
      given: 's-maxage=1',
      expected: [0, 0],
    },
    {
      says: 'RFC 9111, 5.2.2.10: `s-maxage` beside a window leaves the window',
      given: 's-maxage=1, stale-while-revalidate=2',
      expected: [2, 0],
    },
  ])('$says', ({ given, expected }) => {
    const { staleWhileRevalidateMs, staleIfErrorMs } = of({ 'cache-control': given })
    expect([staleWhileRevalidateMs / 1000, staleIfErrorMs / 1000]).toEqual(expected)
  })
})
