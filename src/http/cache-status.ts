/**
 * `Cache-Status` (RFC 9211): what this cache did with a request, in words of the standard. The member
 * is put together as text, since each answer has one; the name is checked once.
 */
import { serializeString } from 'structured-headers'

export type Forwarded =
  'uri-miss' | 'vary-miss' | 'stale' | 'method' | 'bypass' | 'request' | 'miss'

export interface ForwardDetails {
  readonly stored?: boolean
  readonly collapsed?: boolean
  readonly fwdStatus?: number
  /** Seconds. */
  readonly ttl?: number
  readonly detail?: string
}

export interface CacheStatus {
  /** Answered from the cache; stale if the seconds are below 0. */
  hit(ttlSeconds: number): string
  /** Asked further. */
  fwd(reason: Forwarded, more?: ForwardDetails): string
}

const token = /^[A-Za-z*][!#$%&'*+\-.^_`|~0-9A-Za-z:/]*$/

/** Throws where the name has characters that no field can have. */
export function cacheStatus(name: string): CacheStatus {
  const member = tokenOrString(name)
  const hit = `${member};hit;ttl=`
  const fwd = `${member};fwd=`
  return {
    hit: (ttlSeconds) => `${hit}${whole(ttlSeconds)}`,
    fwd(reason, more) {
      const text = `${fwd}${reason}`
      return more === undefined ? text : `${text}${printed(more)}`
    },
  }
}

/** Behind those of the caches that are nearer to the source (RFC 9211, 2). */
export function appended(earlier: string | undefined, member: string): string {
  return earlier === undefined || earlier.trim() === '' ? member : `${earlier}, ${member}`
}

function printed(more: ForwardDetails): string {
  const { fwdStatus, ttl, stored, collapsed, detail } = more
  let text = ''
  if (fwdStatus !== undefined) text += `;fwd-status=${fwdStatus}`
  if (ttl !== undefined) text += `;ttl=${whole(ttl)}`
  if (stored === true) text += ';stored'
  if (collapsed === true) text += ';collapsed'
  if (detail !== undefined) text += `;detail=${tokenOrString(detail.replace(/[^ -~]/g, '?'))}`
  return text
}

function tokenOrString(text: string): string {
  return token.test(text) ? text : serializeString(text)
}

/** Integers of structured fields have at most 15 digits. */
function whole(seconds: number): number {
  return Math.max(-999_999_999_999_999, Math.min(999_999_999_999_999, Math.floor(seconds)))
}
