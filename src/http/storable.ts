/**
 * Whether an answer to GET may be stored, by its head alone (RFC 9111, 3). Whose request it was, and
 * whether the body came whole, is for others to look at.
 */
import type { Directives } from './cache-control.ts'
import { field, type Head } from './message.ts'
import { varies } from './vary.ts'

export type WhyNot =
  | 'status'
  | 'partial'
  | 'stream'
  | 'no-store'
  | 'private'
  | 'no-cache'
  | 'set-cookie'
  | 'vary-star'
  | 'content-encoding'
  | 'no-freshness'

/** Stored for the route's `ttl`, where the answer says nothing of how long it is fresh. */
export const defaultStatuses: ReadonlySet<number> = new Set([200])

/** Stored where the answer itself says how long it is fresh; whose meaning is known (5.2.2.3). */
const known: ReadonlySet<number> = new Set([200, 203, 204, 300, 301, 302, 303, 307, 308, 404, 410])

/** Of one request and not of the resource, whatever anyone says of them; all of 1xx and 5xx besides. */
const never: ReadonlySet<number> = new Set([206, 304, 400, 405, 413, 414, 429, 431])

const streams: ReadonlySet<string> = new Set(['text/event-stream', 'multipart/x-mixed-replace'])

export function whyNotStored(of: {
  readonly head: Head
  readonly directives: Directives
  readonly isOwnFreshness: boolean
  readonly statuses: ReadonlySet<number>
  readonly allowsSetCookie: boolean
}): WhyNot | undefined {
  const { head, directives, statuses } = of
  const { status, fields } = head
  if (status === 206 || fields['content-range'] !== undefined) return 'partial'
  if (!isStorable(status) || !(known.has(status) || statuses.has(status))) return 'status'
  if (isStream(field(fields, 'content-type'))) return 'stream'
  const isUnderstood = directives.has('must-understand') && known.has(status)
  if (directives.has('must-understand') && !isUnderstood) return 'status'
  // 5.2.2.3: `no-store` beside it is for caches that do not know the status.
  if (directives.has('no-store') && !isUnderstood) return 'no-store'
  if (directives.has('private')) return 'private'
  if (directives.has('no-cache')) return 'no-cache'
  if (fields['set-cookie'] !== undefined && !of.allowsSetCookie) return 'set-cookie'
  if (varies(fields) === '*') return 'vary-star'
  if (!isPlainCoding(field(fields, 'content-encoding'))) return 'content-encoding'
  if (!of.isOwnFreshness && !statuses.has(status)) return 'no-freshness'
  return undefined
}

/** A source in trouble: what is stale may be used instead (RFC 5861, 4). */
export function isFailure(status: number): boolean {
  return status === 500 || status === 502 || status === 503 || status === 504
}

/** Whether the answer to a request with `Authorization` may be for others, too (RFC 9111, 3.5). */
export function isForAll(directives: Directives): boolean {
  return directives.has('public') || directives.has('s-maxage') || directives.has('must-revalidate')
}

/** Statuses that no option can have stored. */
export function isStorable(status: number): boolean {
  return status >= 200 && status < 500 && !never.has(status)
}

function isStream(type: string | undefined): boolean {
  if (type === undefined) return false
  return type.split(/[;,]/).some((part) => streams.has(part.trim().toLowerCase()))
}

const codings = /^[\t ]*[a-z0-9!#$%&'*+.^_`|~-]+([\t ]*,[\t ]*[a-z0-9!#$%&'*+.^_`|~-]+)*[\t ]*$/i

/** Readable as a list, and of codings that need no dictionary, which each visitor has, or has not. */
function isPlainCoding(text: string | undefined): boolean {
  if (text === undefined || text === '') return true
  return codings.test(text) && !/\bdc[bz]\b/i.test(text)
}
