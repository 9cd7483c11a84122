/**
 * A loaded value becomes an entry: with what its loader said of it, its tags and meta, its instants,
 * and, where it is not to be kept, the mark that stands in its place. Publishing it is fill.ts.
 */
import type { Windows } from '../core/decide.ts'
import { smoothed } from '../core/early-refresh.ts'
import { messageOf } from '../core/errors.ts'
import type { Unleased } from '../core/events.ts'
import type { Head, Uncacheable } from '../core/head.ts'
import type { Label } from '../core/labels.ts'
import { bounded, jittered, lifetime, noWindows } from '../core/lifetime.ts'
import { outageTtlOf, type Engine, type Source, type Work } from './engine.ts'
import type { Entry } from './entry.ts'
import { callbackFailed } from './failure.ts'
import { asItWas, inspect, type Inspected } from './inspect.ts'
import { newEntry } from './keep.ts'
import type { Lease } from './lease.ts'
import type { Ran } from './run-loader.ts'
import { tagsOf, union } from './tags-of.ts'
import { metaBytes, metaOf } from './unpack.ts'
import { given, keptPayload } from './values.ts'

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

export function inspected(
  engine: Engine,
  work: Work,
  ran: Ran,
  lease: Lease | undefined,
): Inspected | Promise<Inspected> {
  const { key, source } = work.target
  const { said, previous, value, startedAt } = ran
  if (said.notModified && previous !== undefined) return asItWas(previous)
  // Loader and schema share one deadline.
  const until = startedAt + source.rules.loadTimeoutMs
  return inspect(engine, source, { key, value, toStore: lease !== undefined, until })
}

export function filling(
  engine: Engine,
  work: Work,
  ran: Ran,
  how: FillHow & { readonly seen: Inspected },
): Filling {
  const { key, source } = work.target
  const { rules } = source
  const { said, previous, startedAt, endedAt } = ran
  const renewed = said.notModified ? previous : undefined
  const { value, negative } = how.seen
  let { path, payload } = how.seen
  let keepsBody = true
  let why: Uncacheable | undefined = said.private ? 'private' : said.noStore ? 'noStore' : undefined
  // What cannot be stored is told of after what its loader and its callbacks have said of it.
  if (path === undefined) why ??= how.seen.why

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

  let meta = renewed?.meta
  let metaAsBytes: Uint8Array | undefined
  try {
    if (said.meta !== undefined) meta = said.meta.value
    if (meta !== undefined) metaAsBytes = metaBytes(engine, rules, key, meta)
    if (said.meta !== undefined && metaAsBytes !== undefined) {
      meta = metaOf(engine, rules.codec, key, metaAsBytes)
    }
    // A head's meta is read by its body's codec, which may be that of another deploy.
    keepsBody = metaAsBytes === undefined || renewed?.codec === rules.codec
    if (renewed !== undefined && !keepsBody && how.lease !== undefined) {
      payload = rules.codec.encode(given(renewed, rules))
    }
  } catch (error) {
    path = `ctx.meta, ${messageOf(error)}`
  }
  if (path !== undefined) {
    why ??= 'unstorable'
    source.counters.unstorable++
    const told = path
    engine.listeners.tell('unstorable', () => ({ name: source.name, key, path: told }))
  }

  const asked = said.ttlMs ?? rules.ttlMs
  const fullTtlMs = negative ? Math.min(rules.negativeTtlMs, asked) : asked
  // A negative that is not to be stored leaves no mark either: the record may be made any moment.
  const markMs = fullTtlMs === 0 && negative && why === undefined ? 0 : rules.uncacheableForMs
  if (fullTtlMs === 0) why ??= 'noStore'
  const outage = how.unleased === 'store' || how.unleased === 'nolease'
  const ttlMs = outage ? Math.min(fullTtlMs, outageTtlOf(engine, rules)) : fullTtlMs
  const windows = negative ? noWindows : narrowed(rules, said.windows)
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
      meta: metaAsBytes,
    },
    { expiredAt: Infinity, until: settledAt },
  )
  const at = { now: endedAt, trust: how.trust, tick: ran.tick }
  const outdated = changed.gone || changed.expiredAt < Infinity || settledAt <= endedAt
  const entry = newEntry(engine, rules, {
    head,
    value,
    meta,
    payload: renewed === undefined ? keptPayload(value, payload, rules) : renewed.payload,
    codec: renewed?.codec ?? rules.codec,
    size: path === undefined ? how.seen.size : 0,
    ...at,
  })
  if (outage) entry.makeProvisional(how.outage, entry.freshUntil)
  if (why === undefined) {
    const renews = keepsBody ? renewed?.stamp : undefined
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

/** Readers would apply the smaller anyway; the store need not keep it for longer. */
function narrowed(rules: Windows, said: Partial<Windows>): Windows {
  const { staleWhileRevalidateMs, staleIfErrorMs } = { ...rules, ...said }
  return {
    staleWhileRevalidateMs: Math.min(staleWhileRevalidateMs, rules.staleWhileRevalidateMs),
    staleIfErrorMs: Math.min(staleIfErrorMs, rules.staleIfErrorMs),
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
