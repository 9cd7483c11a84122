/** Which content codings a client takes (RFC 9110, 12.5.3), by negotiator. */
import Negotiator from 'negotiator'
import { field, type HttpRequest } from './message.ts'

/** Those that the web uses, in the order of the alphabet. */
const codings = ['br', 'deflate', 'gzip', 'identity', 'zstd']

// Clients send a handful of different texts: each is read once. Bounded, since anybody may send more.
const mostRemembered = 256
const remembered = new Map<string, readonly string[]>()

/** Sorted. What is liked best is left out: a server that answers by it answers all of them. */
export function acceptedCodings(acceptEncoding: string): readonly string[] {
  const before = remembered.get(acceptEncoding)
  if (before !== undefined) return before
  const accepted = accepting(acceptEncoding, codings).toSorted()
  if (remembered.size >= mostRemembered) remembered.clear()
  if (acceptEncoding.length <= 256) remembered.set(acceptEncoding, accepted)
  return accepted
}

/**
 * Whether this client may be given a body in that `Content-Encoding`; of several codings, it must
 * take all. One that names none is given only what is not encoded: it may by the letter be given
 * anything, but such clients rarely decode.
 */
export function acceptsCoding(request: HttpRequest, coding: string | undefined): boolean {
  const applied = (coding ?? '').toLowerCase().split(',').map(plainName).filter(Boolean)
  const needed = applied.length === 0 ? ['identity'] : applied
  const acceptEncoding = field(request.fields, 'accept-encoding') ?? ''
  if (needed.length === 1 && codings.includes(needed[0] as string)) {
    return acceptedCodings(acceptEncoding).includes(needed[0] as string)
  }
  const distinct = [...new Set(needed)]
  return accepting(acceptEncoding, distinct).length === distinct.length
}

/** RFC 9110, 8.4.1.3: `x-gzip` is `gzip`. */
function plainName(coding: string): string {
  const name = coding.trim()
  return name === 'x-gzip' ? 'gzip' : name
}

function accepting(acceptEncoding: string, offered: string[]): string[] {
  const headers = { 'accept-encoding': acceptEncoding.replace(/\bx-gzip\b/gi, 'gzip') }
  return new Negotiator({ headers }).encodings(offered)
}
