/**
 * How long an answer is fresh in a shared cache, how old it was when it came, and how long it may be
 * used stale (RFC 9111, 4.2; RFC 5861). Nothing is guessed: without an age of its own an answer has
 * the route's `ttl`, or none.
 */
import { mostSeconds, type Directives } from './cache-control.ts'
import { httpDate } from './http-date.ts'
import { field, type Fields, type Head } from './message.ts'

export interface StaleWindows {
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
}

export interface Freshness extends StaleWindows {
  /** `undefined`: the answer says nothing, nor does the route. */
  readonly lifetimeMs: number | undefined
  /** Whether the answer itself says it. */
  readonly isOwn: boolean
  /** When the answer was made, as far as is known: its age is counted from here. */
  readonly bornAt: number
}

export function freshness(of: {
  readonly head: Head
  readonly directives: Directives
  readonly requestedAt: number
  readonly receivedAt: number
  readonly ttlMs: number | undefined
  readonly windows: StaleWindows
}): Freshness {
  const { head, directives, receivedAt } = of
  const ownMs = ownLifetimeMs(head.fields, directives, receivedAt)
  return {
    lifetimeMs: ownMs ?? of.ttlMs,
    isOwn: ownMs !== undefined,
    bornAt: receivedAt - ageMs(head.fields, of.requestedAt, receivedAt),
    ...windowsOf(directives, of.windows),
  }
}

function ownLifetimeMs(
  fields: Fields,
  directives: Directives,
  receivedAt: number,
): number | undefined {
  if (directives.has('no-cache')) return 0
  const seconds = directives.seconds('s-maxage') ?? directives.seconds('max-age')
  if (seconds !== undefined) return seconds * 1000
  // A targeted field stands in place of `Expires`, too (RFC 9213, 2.2).
  if (directives.isTargeted || fields['expires'] === undefined) return undefined
  const expiresAt = httpDate(field(fields, 'expires'), receivedAt)
  // Invalid, `0` most of all, or there twice: it is past (RFC 9111, 5.3).
  if (expiresAt === undefined) return 0
  // Both by the source's clock, so that its error is in neither.
  const madeAt = httpDate(field(fields, 'date'), receivedAt) ?? receivedAt
  return Math.min(Math.max(0, expiresAt - madeAt), mostSeconds * 1000)
}

/** RFC 9111, 4.2.3. A `Date` of the future says nothing, and counts as now. */
function ageMs(fields: Fields, requestedAt: number, receivedAt: number): number {
  const madeAt = httpDate(field(fields, 'date'), receivedAt) ?? receivedAt
  // `Date` is cut to whole seconds: an answer of this second is not old.
  const apparentMs = Math.floor((receivedAt - madeAt) / 1000) * 1000
  const delayMs = Math.max(0, receivedAt - requestedAt)
  return Math.max(apparentMs, statedAgeMs(fields) + delayMs)
}

/** Of several, the first; what is no whole number is ignored (RFC 9111, 5.1). */
function statedAgeMs(fields: Fields): number {
  const [first = ''] = (field(fields, 'age') ?? '').split(',', 1)
  const text = first.trim()
  return /^\d+$/.test(text) ? Math.min(Number(text), mostSeconds) * 1000 : 0
}

function windowsOf(directives: Directives, route: StaleWindows): StaleWindows {
  // No use of what is stale, whoever else allows it (RFC 9111, 4.2.4, 5.2.2.2, 5.2.2.4, 5.2.2.8).
  const isForbidden =
    directives.has('must-revalidate') ||
    directives.has('proxy-revalidate') ||
    directives.has('no-cache')
  if (isForbidden) return { staleWhileRevalidateMs: 0, staleIfErrorMs: 0 }
  // `s-maxage` forbids it as well (5.2.2.10): but not what the same answer allows by name.
  const isShared = directives.has('s-maxage')
  const windowMs = (name: string, routeMs: number): number => {
    const own = directives.seconds(name)
    if (own !== undefined) return own * 1000
    return isShared ? 0 : routeMs
  }
  return {
    staleWhileRevalidateMs: windowMs('stale-while-revalidate', route.staleWhileRevalidateMs),
    staleIfErrorMs: windowMs('stale-if-error', route.staleIfErrorMs),
  }
}
