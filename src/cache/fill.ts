/**
 * A loaded value becomes an entry, is published under its lease, and only then is kept in memory.
 * The fence is the store's: a publish counts only while the lease is still ours. What was fenced is
 * kept nowhere; what could not be published because the store is gone is kept for a short while.
 */
import { deepFreeze } from '../core/freeze.ts'
import type { Label } from '../core/labels.ts'
import { bounded, jittered, lifetime, noWindows } from '../core/lifetime.ts'
import { smoothed } from '../core/early-refresh.ts'
import type { Unleased } from '../core/events.ts'
import type { Head, Uncacheable } from '../core/head.ts'
import { usesMemory, type Engine, type Flying, type Source, type Work } from './engine.ts'
import { storeHead, type Entry } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { keep, newEntry } from './keep.ts'
import type { Lease } from './lease.ts'
import type { Ran } from './run-loader.ts'
import { tagsOf, union } from './tags-of.ts'
import { frameOf, given, headOf, keptPayload, prepare, type Prepared } from './values.ts'

/** A loaded value, ready to be answered, and what is to be done with it then. */
export interface Filling {
  readonly entry: Entry
  readonly private: boolean
  /** What goes to the store: a frame, a new head for the frame that is there, or nothing. */
  readonly head: Head
  readonly payload: Uint8Array
  readonly lifeMs: number
  /** Stamp of the frame whose body is still the right one. */
  readonly renews: string | undefined
  /** Kept in place of the value: callers load side by side. */
  readonly mark: Entry | undefined
  /** A tag of it changed since the load began: it is not to be kept. */
  readonly outdated: boolean
}

export interface FillHow {
  readonly lease: Lease | undefined
  readonly unleased: Unleased | undefined
  /** Counts of gaps in hearing and of outages (`Hearing`) when the load began. */
  readonly trust: number
  readonly outage: number
}

const noPayload = new Uint8Array(0)
const nothing = {
  value: undefined,
  meta: undefined,
  payload: undefined,
  codec: undefined,
  size: 0,
}

export function filling(engine: Engine, work: Work, ran: Ran, how: FillHow): Filling {
  const { key, source } = work.target
  const { rules } = source
  const { said, previous, startedAt, endedAt } = ran
  const renewed = said.notModified ? previous : undefined
  const value = renewed === undefined ? ran.value : renewed.value
  let why: Uncacheable | undefined = said.private ? 'private' : said.noStore ? 'noStore' : undefined

  let negative = false
  if (renewed !== undefined) negative = renewed.negative
  else {
    try {
      negative = rules.isNegative(value)
    } catch (error) {
      why ??= 'noStore'
      callbackFailed(engine, { name: source.name, key }, 'isNegative', error)
    }
  }

  let tags: readonly Label[] = []
  try {
    tags =
      renewed === undefined
        ? tagsOf(rules.tags, value, work.target.arg, said.tags)
        : union(renewed.tags, rules.tags.fixed, said.tags)
  } catch (error) {
    why ??= 'noStore'
    callbackFailed(engine, { name: source.name, key }, 'tags', error)
  }

  const toStore = how.lease !== undefined
  let prepared: Prepared =
    renewed === undefined
      ? prepare(value, rules, toStore)
      : { type: 'storable', value, payload: renewed.payload, size: renewed.size }
  let meta = renewed?.meta
  let metaBytes: Uint8Array | undefined
  try {
    if (said.meta !== undefined) meta = said.meta.value
    if (meta !== undefined) metaBytes = rules.codec.encode(meta)
    if (said.meta !== undefined && metaBytes !== undefined) {
      meta = deepFreeze(rules.codec.decode(metaBytes))
    }
  } catch (error) {
    prepared = { type: 'unstorable', path: `ctx.meta, ${(error as Error).message}` }
  }
  if (prepared.type === 'unstorable') {
    const { path } = prepared
    why ??= 'unstorable'
    source.counters.unstorable++
    engine.listeners.tell('unstorable', () => ({ name: source.name, key, path }))
  }

  const asked = said.ttlMs ?? rules.ttlMs
  const fullTtlMs = negative ? Math.min(rules.negativeTtlMs, asked) : asked
  // A negative that is not to be stored leaves no mark either: the record may be made any moment.
  const markMs = fullTtlMs === 0 && negative && why === undefined ? 0 : rules.uncacheableForMs
  if (fullTtlMs === 0) why ??= 'noStore'
  const outage = how.unleased === 'store' || how.unleased === 'nolease'
  const ttlMs = outage ? Math.min(fullTtlMs, engine.outageTtlMs) : fullTtlMs
  const windows = negative ? noWindows : rules
  const life = lifetime(endedAt, jittered(ttlMs, rules.jitter, engine.clock.random()), windows)
  const settledAt = settledBy(engine, source, key, { startedAt, tags })
  const changed = engine.tags.changedSince(ran.tick, source.labels, tags)
  const head: Head = bounded(
    {
      stamp: how.lease?.token ?? engine.newToken(),
      startedAt,
      storedAt: endedAt,
      freshUntil: life.freshUntil,
      staleWhileRevalidateMs: life.staleWhileRevalidateMs,
      staleIfErrorMs: life.staleIfErrorMs,
      deltaMs: smoothed(previous?.deltaMs, endedAt - startedAt),
      asOf: ran.asOf,
      negative,
      uncacheable: undefined,
      tags,
      meta: metaBytes,
    },
    { expiredAt: Infinity, until: settledAt },
  )
  const at = { now: endedAt, trust: how.trust, tick: ran.tick }
  const outdated = changed.gone || changed.expiredAt < Infinity || settledAt <= endedAt
  const storable = prepared.type === 'storable' ? prepared : { value, payload: undefined, size: 0 }
  const { payload } = storable
  const entry = newEntry(engine, rules, {
    head,
    value: storable.value,
    meta,
    payload: renewed === undefined ? keptPayload(value, payload, rules) : renewed.payload,
    codec: renewed?.codec ?? rules.codec,
    size: storable.size,
    ...at,
  })
  if (outage) entry.makeProvisional(how.outage, entry.freshUntil)
  if (why === undefined) {
    const renews = renewed?.stamp
    return {
      entry,
      private: false,
      head,
      payload: payload ?? noPayload,
      lifeMs: settledAt === Infinity ? life.lifeMs : Math.max(1, head.freshUntil - endedAt),
      renews,
      mark: undefined,
      outdated,
    }
  }
  const markHead: Head = {
    ...head,
    ...noWindows,
    freshUntil: endedAt + markMs,
    uncacheable: why,
    tags: [],
    meta: undefined,
  }
  return {
    entry,
    private: why === 'private',
    head: markHead,
    payload: noPayload,
    lifeMs: markMs,
    renews: undefined,
    mark: newEntry(engine, rules, { head: markHead, ...nothing, ...at }),
    outdated,
  }
}

/** Until when the source may have given what is of before an invalidation; on this process's clock. */
function settledBy(
  engine: Engine,
  source: Source,
  key: string,
  loaded: { readonly startedAt: number; readonly tags: readonly Label[] },
): number {
  const { offsetMs } = engine.hearing
  const { startedAt, tags } = loaded
  return engine.tags.settles(startedAt + offsetMs, source.labels, tags, key) - offsetMs
}

/** Publishes, then keeps. Never rejects: its callers have been answered already. */
export async function fill(
  engine: Engine,
  work: Work,
  flight: Flying,
  made: Filling,
  how: FillHow,
): Promise<void> {
  const { target } = work
  const { key, source } = target
  const { rules, counters } = source
  const entry = made.mark ?? made.entry
  const keepIt = (): void => {
    if (flight.outdated || made.outdated || !usesMemory(engine, rules)) return
    if (made.mark !== undefined && made.lifeMs === 0) return
    keep(engine, key, entry)
  }
  if (how.lease === undefined) {
    // Waited too long, or the key is uncacheable: somebody else may know better.
    if (how.unleased === 'local' || how.unleased === 'store' || how.unleased === 'nolease') keepIt()
    return
  }
  how.lease.stop()
  if (made.outdated) {
    counters.fenced++
    engine.listeners.tell('fenced', () => ({ name: source.name, key }))
    return how.lease.release('late')
  }
  if (made.mark !== undefined && made.lifeMs === 0) {
    return how.lease.release(made.private ? 'private' : 'unstorable')
  }
  try {
    switch (await publish(engine, work, made, how.lease)) {
      case 'ok':
      case 'kept':
        counters.published++
        keepIt()
        return
      case 'fenced':
        counters.fenced++
        engine.listeners.tell('fenced', () => ({ name: source.name, key }))
        return
    }
  } catch {
    // Not known to be stored, and perhaps the store is gone.
    entry.makeProvisional(how.outage, entry.storedAt + engine.outageTtlMs)
    keepIt()
  }
}

async function publish(
  engine: Engine,
  work: Work,
  made: Filling,
  lease: Lease,
): Promise<'ok' | 'kept' | 'fenced'> {
  const { key, source } = work.target
  const { token } = lease
  const head = storeHead(made.head, engine.hearing.offsetMs)
  const lifeMs = Math.ceil(made.lifeMs)
  let { payload } = made
  if (made.renews !== undefined) {
    const renewal = { key, token, seen: made.renews, head: headOf(head), lifeMs }
    const renewed = await engine.store!.call('touch', key, (session) => session.touch(renewal))
    if (renewed !== 'gone') return renewed
    // By this call's codec: the value may have been loaded by a call with another.
    payload = source.rules.codec.encode(given(made.entry, source.rules))
  }
  const frame = frameOf(head, payload, source.rules)
  return engine.store!.call('publish', key, (session) =>
    session.publish({ key, token, frame, lifeMs }),
  )
}
