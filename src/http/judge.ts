/** What becomes of one answer: whether it is kept, for how long, and as what. RFC 9111, sections 3 and 4. */
import { freshened, isAbout } from './conditional.ts'
import { directivesOf } from './directives.ts'
import { freshness } from './freshness.ts'
import { storedFields } from './hop-by-hop.ts'
import { tagsIn } from './labels-in.ts'
import type { Fields, Head, StoredResponse } from './message.ts'
import type { Judgement, Recording } from './recording.ts'
import type { HttpRules, RouteRules } from './rules.ts'
import { isFailure, whyNotStored } from './storable.ts'
import { selecting, selectionOf, varies } from './vary.ts'

export interface Judging {
  readonly rules: HttpRules
  readonly route: RouteRules
  /** What the answer was asked for with. */
  readonly request: Fields
  /** The older answer, where one may still be renewed or cover a failure. */
  readonly previous: StoredResponse | undefined
  /** The application was told its validators. */
  readonly isAsked: boolean
  /** Nobody is there to be answered, and it comes without credentials: a refusal says nothing of the answer. */
  readonly isDetached: boolean
  readonly newFamily: () => string
}

export interface Made {
  readonly response: StoredResponse
  readonly ttlMs: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  readonly tags: readonly string[]
}

const refusals: ReadonlySet<number> = new Set([401, 403, 407, 429])

export function judge(of: Judging, head: Head, now: number): Judgement {
  const { status } = head
  const { previous } = of
  if (isFailure(status)) {
    return { type: 'failed', isCovered: previous !== undefined && now < previous.coversUntil }
  }
  if (status === 304 && previous !== undefined && of.isAsked) {
    // RFC 9111, 4.3.4: one that names another answer renews nothing.
    return isAbout(head, previous) ? { type: 'renewed' } : { type: 'failed', isCovered: true }
  }
  if (of.isDetached && refusals.has(status)) return { type: 'failed', isCovered: true }
  const why = whyNot(of, head, now)
  return why === undefined ? { type: 'keep' } : { type: 'pass', why }
}

function whyNot(of: Judging, head: Head, now: number): string | undefined {
  const { rules, route } = of
  const directives = directivesOf(head.fields, rules.targets)
  const fresh = freshness({
    head,
    directives,
    requestedAt: now,
    receivedAt: now,
    ttlMs: route.ttlMs,
    windows: route,
  })
  const why = whyNotStored({
    head,
    directives,
    isOwnFreshness: fresh.isOwn,
    statuses: route.statuses,
    allowsSetCookie: route.storesSetCookie,
  })
  if (why !== undefined) return why
  if (fresh.lifetimeMs === undefined) return 'no-freshness'
  if (fresh.isOwn && now - fresh.bornAt >= fresh.lifetimeMs) return 'stale'
  return tagsIn(head.fields) === 'too-many' ? 'tags' : undefined
}

/** What is kept of a whole answer; `undefined`: it is stale already. */
export function made(
  of: Judging,
  recording: Pick<Recording, 'requestedAt' | 'receivedAt'>,
  head: Head,
  body: Uint8Array,
  now: number,
): Made | undefined {
  const { rules, route } = of
  const directives = directivesOf(head.fields, rules.targets)
  const { receivedAt } = recording
  // Without `Age` it comes from the application itself: what that took to make it is not age, or a
  // source slower than its own `max-age` would never be protected.
  const requestedAt = head.fields['age'] === undefined ? receivedAt : recording.requestedAt
  const fresh = freshness({
    head,
    directives,
    requestedAt,
    receivedAt,
    ttlMs: route.ttlMs,
    windows: route,
  })
  const { lifetimeMs = 0, bornAt } = fresh
  // The route's own `ttl` counts as the cache's does: from the end of the load.
  const ttlMs = fresh.isOwn ? bornAt + lifetimeMs - now : lifetimeMs
  if (ttlMs <= 0) return undefined
  const vary = variesBy(head.fields)
  const tags = tagsIn(head.fields)
  return {
    response: {
      type: 'response',
      status: head.status,
      statusText: head.statusText,
      fields: dated(storedFields(head.fields), receivedAt),
      body,
      bornAt,
      storedAt: now,
      freshUntil: now + ttlMs,
      coversUntil: now + ttlMs + Math.max(fresh.staleWhileRevalidateMs, fresh.staleIfErrorMs),
      vary,
      selection: selectionOf(vary, of.request),
      family: of.previous?.family ?? of.newFamily(),
      selecting: selecting(vary, of.request),
    },
    ttlMs,
    staleWhileRevalidateMs: fresh.staleWhileRevalidateMs,
    staleIfErrorMs: fresh.staleIfErrorMs,
    tags: [...route.tags, ...(tags === 'too-many' ? [] : tags)],
  }
}

/** The older answer, renewed by a 304 (RFC 9111, 4.3.4). */
export function renewed(
  of: Judging & { readonly previous: StoredResponse },
  recording: Pick<Recording, 'requestedAt' | 'receivedAt'>,
  head: Head,
  now: number,
): Made | undefined {
  const { previous } = of
  const { status, statusText } = previous
  // A source that has not dated it yet means now (RFC 9110, 6.6.1), and not the older answer's date.
  const fields = dated(head.fields, recording.receivedAt)
  const again: Head = { status, statusText, fields: freshened(previous, { ...head, fields }) }
  if (whyNot(of, again, now) !== undefined) return undefined
  return made(of, recording, again, previous.body, now)
}

/**
 * A body in a content coding is for those who accept it, and one that lets a site read it is for that
 * site, whether its head says so or not.
 */
function variesBy(fields: Fields): readonly string[] {
  const named = varies(fields)
  if (named === '*') throw new TypeError('vary: an answer that varies by everything is not kept')
  const { 'content-encoding': coding, 'access-control-allow-origin': site } = fields
  const all = new Set(named)
  if (coding !== undefined && coding !== 'identity') all.add('accept-encoding')
  if (site !== undefined && site !== '*') all.add('origin')
  return all.size === named.length ? named : [...all].toSorted()
}

function dated(fields: Fields, at: number): Fields {
  return fields['date'] === undefined ? { ...fields, date: new Date(at).toUTCString() } : fields
}
