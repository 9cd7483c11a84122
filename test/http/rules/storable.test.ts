import { expect, it } from 'vitest'
import { directivesOf } from '../../../src/http/directives.ts'
import { freshness } from '../../../src/http/freshness.ts'
import type { Fields } from '../../../src/http/message.ts'
import { defaultStatuses, isFailure, isForAll, whyNotStored } from '../../../src/http/storable.ts'
import { parseCacheControl } from '../../../src/http/cache-control.ts'
import { head } from './records.ts'

interface Given {
  status?: number
  fields?: Fields
  cacheControl?: string
  statuses?: ReadonlySet<number>
  allowsSetCookie?: boolean
}

function whyNot(given: Given) {
  const { status = 200, cacheControl, statuses = defaultStatuses, allowsSetCookie = false } = given
  const fields = { ...given.fields, ...(cacheControl && { 'cache-control': cacheControl }) }
  const directives = directivesOf(fields, [])
  const windows = { staleWhileRevalidateMs: 0, staleIfErrorMs: 0 }
  const times = { requestedAt: 0, receivedAt: 0, ttlMs: 60_000 }
  const { isOwn } = freshness({ head: head(fields), directives, ...times, windows })
  const of = { head: head(fields, status), directives, statuses, allowsSetCookie }
  return whyNotStored({ ...of, isOwnFreshness: isOwn })
}

const all = new Set(Array.from({ length: 600 }, (_, status) => status))

it.each<{ says: string; given: Given; expected: string | undefined }>([
  { says: '3: a plain 200 is stored for the `ttl` of the route', given: {}, expected: undefined },
  {
    says: '3: `no-store` is never stored',
    given: { cacheControl: 'no-store, max-age=60' },
    expected: 'no-store',
  },
  {
    says: '3: `private` is never stored',
    given: { cacheControl: 'private, max-age=60' },
    expected: 'private',
  },
  {
    says: '5.2.2.7: `private` with names of fields is not stored either',
    given: { cacheControl: 'private="x", max-age=60' },
    expected: 'private',
  },
  {
    says: '5.2.2.4: `no-cache` is not stored',
    given: { cacheControl: 'no-cache' },
    expected: 'no-cache',
  },
  {
    says: '5.2.2.4: `no-cache` with names of fields is not stored either',
    given: { cacheControl: 'no-cache="set-cookie"' },
    expected: 'no-cache',
  },
  {
    says: '5.2.2.9: `public` makes `private` no weaker',
    given: { cacheControl: 'public, private' },
    expected: 'private',
  },
  {
    says: '5.2.2.3: `must-understand` with a known status puts `no-store` aside',
    given: { cacheControl: 'must-understand, no-store, max-age=60' },
    expected: undefined,
  },
  {
    says: '5.2.2.3: `must-understand` with a status that is not known is not stored',
    given: { status: 299, statuses: new Set([299]), cacheControl: 'must-understand, max-age=60' },
    expected: 'status',
  },
  {
    says: '5.2.2.3: `must-understand` puts nothing else aside',
    given: { cacheControl: 'must-understand, no-store, private' },
    expected: 'private',
  },
  {
    says: '7.3: an answer that sets a cookie is not stored',
    given: { fields: { 'set-cookie': ['a=b'] } },
    expected: 'set-cookie',
  },
  {
    says: '7.3: it is, where the route says so',
    given: { fields: { 'set-cookie': 'a=b' }, allowsSetCookie: true },
    expected: undefined,
  },
  {
    says: 'T136 4.1: `Vary: *` is never stored',
    given: { fields: { vary: 'accept, *' } },
    expected: 'vary-star',
  },
  {
    says: 'T142 3.3: 206 is never stored, whatever it says',
    given: { status: 206, cacheControl: 'max-age=60', statuses: all },
    expected: 'partial',
  },
  {
    says: 'T142 3.3: a part that calls itself 200 is not stored',
    given: { fields: { 'content-range': 'bytes 0-1/5' } },
    expected: 'partial',
  },
  {
    says: 'T139 3: 304 is never stored',
    given: { status: 304, cacheControl: 'max-age=60', statuses: all },
    expected: 'status',
  },
  {
    says: 'T151: a stream of events is never stored',
    given: { fields: { 'content-type': 'Text/Event-Stream; charset=utf-8' } },
    expected: 'stream',
  },
  {
    says: 'T151: pictures that replace each other are never stored',
    given: { fields: { 'content-type': 'multipart/x-mixed-replace;boundary=x' } },
    expected: 'stream',
  },
  {
    says: 'T138: a coding that needs a dictionary is not stored',
    given: { fields: { 'content-encoding': 'dcb' } },
    expected: 'content-encoding',
  },
  {
    says: 'T138: a coding that is no list is not stored',
    given: { fields: { 'content-encoding': 'gzip;q=1' } },
    expected: 'content-encoding',
  },
  {
    says: 'T138: plain codings are stored',
    given: { fields: { 'content-encoding': 'gzip, br' } },
    expected: undefined,
  },
  {
    says: 'T144 3: 404 without an age of its own is not stored',
    given: { status: 404 },
    expected: 'no-freshness',
  },
  {
    says: 'T144 3: 404 with an age of its own is stored',
    given: { status: 404, cacheControl: 'max-age=60' },
    expected: undefined,
  },
  {
    says: 'T144 3: 404 is stored where the route asks for it',
    given: { status: 404, statuses: new Set([200, 404]) },
    expected: undefined,
  },
  {
    says: 'T144 3: 200 is not stored for the `ttl` where the route leaves it out',
    given: { statuses: new Set([404]) },
    expected: 'no-freshness',
  },
])('RFC 9111, $says', ({ given, expected }) => {
  expect(whyNot(given)).toBe(expected)
})

it.each([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410])(
  'T142 T144 RFC 9111, 3: %i is stored with an age of its own, and but 200 not without',
  (status) => {
    expect(whyNot({ status, cacheControl: 'max-age=60' })).toBeUndefined()
    expect(whyNot({ status })).toBe(status === 200 ? undefined : 'no-freshness')
  },
)

it.each([100, 101, 103, 304, 400, 405, 413, 414, 429, 431, 500, 501, 502, 503, 504, 507, 599])(
  'T144 T145 RFC 9110, 15: %i is never stored, whatever the answer and the route say',
  (status) => {
    expect(whyNot({ status, cacheControl: 'public, max-age=60', statuses: all })).toBe('status')
  },
)

it.each([201, 202, 205, 226, 305, 401, 402, 403, 406, 407, 408, 409, 412, 415, 416, 421, 422, 451])(
  'RFC 9111, 3: %i is not stored unless the route asks for it',
  (status) => {
    expect(whyNot({ status, cacheControl: 'public, max-age=60' })).toBe('status')
    expect(whyNot({ status, statuses: new Set([status]) })).toBeUndefined()
  },
)

it('RFC 5861, 4: 500, 502, 503 and 504 are failures, and no other status is', () => {
  const failures = [...all].filter(isFailure)
  expect(failures).toEqual([500, 502, 503, 504])
})

it.each([
  { given: 'public', expected: true },
  { given: 's-maxage=0', expected: true },
  { given: 'must-revalidate', expected: true },
  { given: 'max-age=60', expected: false },
  { given: 'proxy-revalidate', expected: false },
  { given: '', expected: false },
])(
  'T135 RFC 9111, 3.5: `$given` lets the answer to a visitor with credentials be for all: $expected',
  ({ given, expected }) => {
    expect(isForAll(parseCacheControl(given))).toBe(expected)
  },
)
