/**
 * Validation in both directions (RFC 9111, 4.3): a visitor's condition answered from what is stored,
 * and what is stored validated with the source. `If-Match` and `If-Unmodified-Since` are for the
 * source alone, and are not looked at here.
 */
import fresh from 'fresh'
import { isEntityTag, matchesStrongly, isWeak, matchesWeakly } from './entity-tag.ts'
import { storedFields } from './hop-by-hop.ts'
import { httpDate } from './http-date.ts'
import { field, type Fields, type Head, type HttpRequest, type StoredResponse } from './message.ts'

const conditions = ['if-none-match', 'if-modified-since', 'if-match', 'if-unmodified-since']

export function isConditional(request: HttpRequest): boolean {
  return conditions.some((name) => request.fields[name] !== undefined)
}

/** Whether only the source may judge its condition (RFC 9111, 4.3.2). */
export function isConditionalForSource({ fields }: HttpRequest): boolean {
  return fields['if-match'] !== undefined || fields['if-unmodified-since'] !== undefined
}

/** Whether the visitor already has this answer. */
export function answersNotModified(request: HttpRequest, response: StoredResponse): boolean {
  if (request.method !== 'GET' && request.method !== 'HEAD') return false
  if (response.status !== 200) return false
  const noneMatch = field(request.fields, 'if-none-match')
  const since = field(request.fields, 'if-modified-since')
  const etag = field(response.fields, 'etag')
  if (noneMatch !== undefined) {
    // `Cache-Control` of the request is not passed: whether it is obeyed is the engine's business.
    return fresh({ 'if-none-match': noneMatch.trim() }, isEntityTag(etag) ? { etag } : {})
  }
  if (since === undefined) return false
  // fresh takes for a date what is none: RFC 9110, 13.1.3, has it ignored.
  const lastModified = field(response.fields, 'last-modified')
  const dates = [since, lastModified].map((text) => httpDate(text, response.bornAt))
  if (dates.includes(undefined)) return false
  const [sinceText, modifiedText] = dates.map((date) => new Date(date as number).toUTCString())
  return fresh({ 'if-modified-since': sinceText }, { 'last-modified': modifiedText })
}

/** With what to ask the source whether the answer still holds (RFC 9111, 4.3.1); maybe nothing. */
export function validators(response: StoredResponse): Fields {
  const etag = field(response.fields, 'etag')
  const lastModified = field(response.fields, 'last-modified')
  return {
    ...(isEntityTag(etag) && { 'if-none-match': etag }),
    ...(httpDate(lastModified, response.bornAt) !== undefined && {
      'if-modified-since': lastModified,
    }),
  }
}

/** Whether a 304 speaks of this answer, and not of one that another cache or visitor has (4.3.4). */
export function isAbout(head: Head, previous: StoredResponse): boolean {
  const etag = field(head.fields, 'etag')
  const previousTag = field(previous.fields, 'etag')
  if (isEntityTag(etag)) {
    if (previousTag === undefined) return false
    return isWeak(etag) ? matchesWeakly(etag, previousTag) : matchesStrongly(etag, previousTag)
  }
  const lastModified = field(head.fields, 'last-modified')
  return lastModified === undefined || lastModified === field(previous.fields, 'last-modified')
}

/** Of the body that is kept, so that no 304 changes them (RFC 9111, 3.2). */
const ofBody: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'content-range',
  'content-length',
  'etag',
])

/** The fields of an answer that a 304 has freshened; only where `isAbout` says so. */
export function freshened(previous: StoredResponse, head: Head): Fields {
  return { ...previous.fields, ...storedFields(head.fields, ofBody) }
}

/** What a 304 does not carry: who is given it has them (RFC 9110, 15.4.5). */
const representation: ReadonlySet<string> = new Set([
  'content-encoding',
  'content-type',
  'content-range',
  'content-length',
  'content-language',
  'content-disposition',
  'content-digest',
  'repr-digest',
  'content-md5',
  'digest',
  'accept-ranges',
])

const withoutDate: ReadonlySet<string> = new Set([...representation, 'last-modified'])

export function notModifiedFields(response: Head): Fields {
  const hasTag = response.fields['etag'] !== undefined
  return storedFields(response.fields, hasTag ? withoutDate : representation)
}
