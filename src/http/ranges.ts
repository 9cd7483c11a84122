/**
 * One range of bytes out of a whole stored body (RFC 9110, 14). Whatever else is asked for gets the
 * whole answer, which is always allowed, so that no number of ranges is work.
 */
import { isEntityTag, matchesStrongly } from './entity-tag.ts'
import { httpDate } from './http-date.ts'
import { field, type HttpRequest, type StoredResponse } from './message.ts'

/** First and last byte, both included, as `Content-Range` has them. */
export interface ByteRange {
  readonly start: number
  readonly end: number
}

const oneRange = /^bytes=[\t ]*(\d*)-(\d*)[\t ]*$/i

/** `undefined`: the whole answer. */
export function rangeOf(
  request: HttpRequest,
  response: StoredResponse,
): ByteRange | 'unsatisfiable' | undefined {
  if (request.method !== 'GET' || response.status !== 200) return undefined
  const found = oneRange.exec(field(request.fields, 'range') ?? '')
  if (found === null || !isOfThis(request, response)) return undefined
  const [, first = '', last = ''] = found
  const size = response.body.byteLength
  if (first === '') return last === '' ? undefined : suffix(Number(last), size)
  const start = Number(first)
  const end = last === '' ? Infinity : Number(last)
  // The wrong way round is invalid, and not unsatisfiable (14.1.1).
  if (end < start) return undefined
  return start < size ? { start, end: Math.min(end, size - 1) } : 'unsatisfiable'
}

/** The last bytes: of a shorter body, all (14.1.2); no `Content-Range` can name all of none. */
function suffix(length: number, size: number): ByteRange | 'unsatisfiable' | undefined {
  if (length === 0) return 'unsatisfiable'
  return size === 0 ? undefined : { start: Math.max(0, size - length), end: size - 1 }
}

/** `If-Range`: the part would not fit to the rest of another body (13.1.5). */
function isOfThis(request: HttpRequest, response: StoredResponse): boolean {
  const condition = field(request.fields, 'if-range')?.trim()
  if (condition === undefined) return true
  if (isEntityTag(condition)) {
    return matchesStrongly(condition, field(response.fields, 'etag') ?? '')
  }
  const near = response.bornAt
  const modifiedAt = httpDate(field(response.fields, 'last-modified'), near)
  const madeAt = httpDate(field(response.fields, 'date'), near)
  if (modifiedAt === undefined || madeAt === undefined) return false
  // A date is strong only if no second change can have been in its second (8.8.2.2).
  return httpDate(condition, near) === modifiedAt && madeAt - modifiedAt >= 1000
}
