/** What is kept, under which name, and how one answer is loaded: by its visitor, or for nobody. */
import type { Cache, LoadContext, Resource } from '../api.ts'
import type { Address } from './address.ts'
import { isConditional, validators } from './conditional.ts'
import { judge, made, renewed, type Judging, type Made } from './judge.ts'
import type { Fields, HttpRequest, StoredResponse } from './message.ts'
import { Recording } from './recording.ts'
import type { Roles } from './request-fields.ts'
import type { HttpRules, RouteRules } from './rules.ts'
import { SourceFailed } from './source-failed.ts'
import { selectionOf } from './vary.ts'

/** In place of an answer: its visitors go to the application side by side (hit-for-miss). */
export interface Pass {
  readonly type: 'pass'
  readonly why: string
  readonly until: number
}

export type Kept = StoredResponse | Pass

/** What the application is shown in place of what came; a field that is `undefined` is taken away. */
export interface Changes {
  readonly method: 'GET'
  readonly url: string
  readonly fields: Readonly<Record<string, string | readonly string[] | undefined>>
}

/** Runs the application for nobody, into the recording alone. */
export type Dispatch = (request: HttpRequest, recording: Recording) => void

/** One visitor's question for one key. */
export interface Ask {
  readonly key: string
  readonly rules: HttpRules
  readonly route: RouteRules
  readonly roles: Roles
  readonly request: HttpRequest
  readonly address: Address
  readonly dispatch: Dispatch | undefined
  newFamily(): string
  /** Leads the visitor to the application. */
  lead(recording: Recording, changes: Changes): void
  led: Recording | undefined
  isAnswered: boolean
}

const defined = new WeakMap<Cache, Map<string, Resource<Ask, Kept>>>()

/**
 * One definition for all that stand on a cache by one name: what is asked says all that differs.
 * `refreshes`: the application can be run for nobody; else nothing is refreshed ahead of its end.
 */
export function responsesOf(cache: Cache, name: string, refreshes: boolean): Resource<Ask, Kept> {
  let named = defined.get(cache)
  if (named === undefined) defined.set(cache, (named = new Map()))
  let resource = named.get(name)
  if (resource === undefined) {
    resource = cache.define<Ask, Kept>({
      name,
      key: (ask) => ask.key,
      load,
      version: 1,
      // Nobody but us sees the records, and bytes cannot be frozen.
      values: 'share',
      isNegative: () => false,
      verify: false,
      softTimeout: false,
      ...(!refreshes && { earlyRefresh: false }),
      maxBytes: '256MiB',
      // What applies is said of each answer.
      staleWhileRevalidate: longest,
      staleIfError: longest,
      isFailure: () => true,
      errorTtl: 0,
      errors: { toWire: SourceFailed.toWire, fromWire: SourceFailed.fromWire },
    }) as Resource<Ask, Kept>
    named.set(name, resource)
  }
  return resource
}

const longest = '3650d'

async function load(ask: Ask, ctx: LoadContext<Kept>): Promise<Kept> {
  const { rules, route, dispatch } = ask
  const { clock } = rules
  const kept = ctx.previous?.value
  if (kept?.type === 'pass' && ctx.reason !== 'miss') return passed(ctx, kept, clock.now())
  const previous = kept?.type === 'response' ? kept : undefined
  // Whoever is answered stale is answered before this goes on.
  if (ctx.reason !== 'miss')
    await new Promise((resolve) => clock.after(0, () => resolve(undefined)))
  const byVisitor = !ask.isAnswered && ctx.reason !== 'early'
  if (!byVisitor && dispatch === undefined) {
    throw new SourceFailed('nobody', 'nobody is there to ask the application')
  }
  const known =
    previous !== undefined && (!byVisitor || isFor(ask, previous)) ? previous : undefined
  const shown = byVisitor ? shownTo(ask, known) : askedForNobody(ask, previous)
  const judging: Judging = {
    rules,
    route,
    request: byVisitor ? ask.address.fields : (shown.fields as Fields),
    previous,
    isAsked: known !== undefined,
    isDetached: !byVisitor,
    newFamily: ask.newFamily,
  }
  const recording = new Recording({
    judge: (head) => judge(judging, head, clock.now()),
    maxBodyBytes: rules.maxBodyBytes,
    bodyTimeoutMs: rules.bodyTimeoutMs,
    clock,
    visitor: !byVisitor ? 'none' : isAnsweredFromKept(ask.request) ? 'held' : 'shown',
  })
  ctx.signal.addEventListener('abort', () => recording.abort('timeout'), { once: true })
  if (byVisitor) {
    ask.led = recording
    ask.lead(recording, shown)
  } else {
    const { isSecure } = ask.request
    dispatch!(
      { ...shown, fields: shown.fields as Fields, isSecure, isIdentified: false },
      recording,
    )
  }
  const outcome = await recording.outcome
  const now = clock.now()
  switch (outcome.type) {
    case 'kept': {
      const all = made(judging, recording, outcome.head, outcome.body, now)
      if (all === undefined) return passed(ctx, pass(ask, 'stale', now), now)
      return stored(ask, ctx, all)
    }
    case 'renewed': {
      const all = renewed({ ...judging, previous: previous! }, recording, outcome.head, now)
      if (all !== undefined) return stored(ask, ctx, all)
      // Right as of now, and not to be kept any longer.
      ctx.noStore()
      return previous!
    }
    case 'pass':
      return passed(ctx, pass(ask, outcome.why, now), now)
    case 'failed':
      throw new SourceFailed('status', `the application answered ${outcome.status}`)
    case 'aborted':
      throw new SourceFailed('aborted', `the answer broke off (${outcome.why})`)
  }
}

/** RFC 9111, 4.3.1: nobody is asked for by the validators of another variant. */
function isFor({ address }: Ask, { vary, selection }: StoredResponse): boolean {
  return selectionOf(vary, address.fields) === selection
}

/** What is led to the application as another request than it came. */
function isAnsweredFromKept(request: HttpRequest): boolean {
  return request.method === 'HEAD' || isConditional(request)
}

function stored(ask: Ask, ctx: LoadContext, all: Made): StoredResponse {
  ctx.ttl(all.ttlMs)
  ctx.windows({
    staleWhileRevalidate: ask.dispatch === undefined ? 0 : all.staleWhileRevalidateMs,
    staleIfError: all.staleIfErrorMs,
  })
  const { tag } = ask.address
  ctx.tags(...all.tags, ...(tag === undefined ? [] : [tag]))
  return all.response
}

function pass(ask: Ask, why: string, now: number): Pass {
  return { type: 'pass', why, until: now + ask.rules.uncacheableForMs }
}

/** However often it is looked at early, it ends when it was to end. */
function passed(ctx: LoadContext, mark: Pass, now: number): Pass {
  ctx.ttl(Math.max(1, mark.until - now))
  ctx.windows({ staleWhileRevalidate: 0, staleIfError: 0 })
  return mark
}

const conditions = ['if-none-match', 'if-modified-since', 'if-range', 'range'] as const

/** A visitor's own question, as the one whose answer is for all. */
function shownTo({ request, address }: Ask, previous: StoredResponse | undefined): Changes {
  const fields: Record<string, string | readonly string[] | undefined> = {}
  for (const name of conditions) if (request.fields[name] !== undefined) fields[name] = undefined
  if (request.fields['cookie'] !== address.fields['cookie']) {
    fields['cookie'] = address.fields['cookie']
  }
  if (previous !== undefined) Object.assign(fields, validators(previous))
  return { method: 'GET', url: address.url, fields }
}

/** Only what is in the key and what chose the answer; a visitor's credentials where the key names him. */
function askedForNobody(ask: Ask, previous: StoredResponse | undefined): Changes {
  const { request, address, roles } = ask
  const own: Record<string, string | readonly string[] | undefined> = {}
  for (const name of ['host', ':authority']) {
    if (request.fields[name] !== undefined) own[name] = request.fields[name]
  }
  if (address.isPersonal) {
    for (const [name, value] of Object.entries(request.fields)) {
      if (roles.get(name) === 'credential') own[name] = value
    }
    const { cookie } = address.fields
    if (cookie !== undefined) own['cookie'] = cookie
  }
  const fields = {
    ...own,
    ...address.keyed,
    ...previous?.selecting,
    ...(previous && validators(previous)),
  }
  return { method: 'GET', url: address.url, fields }
}
