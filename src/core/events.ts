/**
 * Everything that can be told about a cache. Events are made only while somebody listens; counters
 * always run, one record of plain integers per definition.
 */
import type { Mode } from './modes.ts'

export type Outcome = 'hit' | 'stale' | 'loaded' | 'waited' | 'fallback' | 'placeholder' | 'refused'

export type LoadReason = 'miss' | 'stale' | 'early' | 'forced' | 'scheduled' | 'verify'

/**
 * Why a stale value was served. `revalidate`: inside `staleWhileRevalidate`, a refresh is under way.
 * `error`: a load has failed, now or shortly before. `timeout`: a load takes longer than
 * `softTimeout`, the call's `timeout` or `waitTimeout`. `outage`: the store is gone. `mode`: no load
 * is allowed now. `ahead`: what is made by schedule is late.
 */
export type StaleCause = 'revalidate' | 'error' | 'timeout' | 'outage' | 'mode' | 'ahead'

/** Why a load ran without a lease. */
export type Unleased = 'waited' | 'store' | 'nolease' | 'uncacheable' | 'private' | 'local'

interface At {
  /** The definition's name; `''` for one-off keys. */
  readonly name: string
  readonly key: string
}

/** One run of a loader: what traces tell of it, and what those who waited for it are linked to. */
export interface LoadTrace extends At {
  readonly namespace: string
  readonly reason: LoadReason
  /** The token of its lease, which processes that wait for it know as `holder`. */
  readonly lease: string | undefined
  readonly unleased: Unleased | undefined
}

export interface CacheEvents {
  /** A caller got a value. */
  answer: At & { readonly outcome: Outcome }
  /** A caller got a stale value, `ms` after it had ceased to be fresh. */
  stale: At & { readonly cause: StaleCause; readonly ms: number }
  /** A load ended well; `ms` is the loader alone; so many calls of this process waited for it. */
  load: At & {
    readonly ms: number
    readonly reason: LoadReason
    readonly unleased: Unleased | undefined
    readonly callers: number
  }
  /** A load failed, in the foreground or in the background. */
  loadFailed: At & { readonly error: unknown; readonly reason: LoadReason }
  /** A publish was refused because the lease was no longer ours. */
  fenced: At
  /**
   * One of the sample (option `verify`) was looked at again. `same`: as the source has it now.
   * `different`: it is not, `ms` after the entry's last change. `outdated`: it is not, and no change
   * of it was ever heard of, `ms` after its load: the price of a ttl. `overtaken`: it was changed or
   * replaced meanwhile. `failed`: nothing to compare with.
   */
  verified: At & {
    readonly result: 'same' | 'overtaken' | 'different' | 'outdated' | 'failed'
    readonly ms: number
  }
  /** Calls of this process have waited for another one, whose lease had this token; whatever came of it. */
  waited: At & { readonly ms: number; readonly holder: string }
  /** A call waited for a load that another call of this process had begun; `load`: that, if it ran here. */
  joined: At & { readonly ms: number; readonly load: LoadTrace | undefined }
  /** By key, by tag, or all (`name`: of one definition). Made by this process. */
  invalidated: {
    readonly keys?: string[]
    readonly tags?: string[]
    readonly all?: true
    readonly name?: string
  }
  /** A value that the codec cannot keep, or that is too large; `path` as in `$.author.save: function`. */
  unstorable: At & { readonly path: string }
  /**
   * What was in the store could not be read: a miss. `why`: `'foreign'`, `'newer'`, `'older'`,
   * `'truncated'`, `'corrupt'`, `'codec'` (another one), `'compression'` (one that this process has
   * not), `'sealed'` or `'unsealed'` (the codec encrypts not, or does), `'too large'` (over
   * `maxBytes`), `'body'` (of a big value, which lies apart: gone, or not to be had now), `'undecodable'`, or `'schema'` with a `path` as in `$.price: expected a number`.
   */
  unreadable: At & { readonly why: string; readonly path?: string }
  /** To encode or decode one value has held the event loop for `ms`, 10 or more. */
  slowCodec: At & {
    readonly operation: 'encode' | 'decode'
    readonly bytes: number
    readonly ms: number
  }
  /** A callback of the user's threw (isNegative, schema, toWire …): the value was answered, not stored. */
  callbackFailed: At & { readonly callback: string; readonly error: unknown }
  /** An operation of the store failed or exceeded its deadline. */
  storeFailed: { readonly operation: string; readonly error: unknown }
  /** More invalidations were missed by the store than are remembered for repeating. */
  invalidationsLost: { readonly remembered: number }
  /** Told once, soon after the first connect: Redis has a limit on memory and may evict leases, which costs second loads. */
  eviction: { readonly policy: string }
  /** The breaker in front of the store; of a cluster, before the master that `server` names. */
  breaker: { readonly state: 'closed' | 'open'; readonly server?: string }
  /** The adaptive limit has changed: so many loads at once in this process. */
  limit: { readonly concurrency: number }
  /** `switchTo` was called; `name`: of one definition. `mode` is undefined when the option holds again. */
  switched: { readonly name: string | undefined; readonly mode: Mode | undefined }
  /** What is made ahead, by definition and period. `keys`: how many there are; `refreshed`: by any process. */
  precompute: {
    readonly name: string
    readonly phase: 'begun' | 'progress' | 'ended'
    /** When the period began, ms since 1970. */
    readonly period: number
    readonly keys: number
    readonly refreshed: number
    readonly failed: number
  }
  /** A refresh is missing, or has come after all. */
  alert: RefreshAlert
  /** Hearing of the bus was lost or proved again. */
  bus: { readonly state: 'up' | 'silent' }
  /** The capture of a database's changes has another state; `why` and `error` where something ended it. */
  changes: {
    readonly name: string
    readonly state: ChangesHealth['state']
    readonly why?: string
    readonly error?: unknown
  }
  /** The store has taken what so many captured row changes mean, `ms` after the batch was begun. */
  changesTaken: {
    readonly name: string
    readonly changes: number
    readonly keys: number
    readonly ms: number
  }
  /** Changes may have been missed, or cannot be told one by one: these definitions go as a whole (`''`: the cache). */
  changesGap: { readonly name: string; readonly why: string; readonly definitions: string[] }
  /** The log that a slot holds on the database's disk went over `lag.warn` or under it, or over `lag.drop`. */
  changesLag: {
    readonly name: string
    readonly state: 'over' | 'under' | 'dropped'
    readonly heldBytes: number
  }
}

/** What a capture of a database's changes tells of itself (`breakwater/postgres`). */
export interface ChangesHealth {
  readonly name: string
  readonly mode: 'notify' | 'replication'
  /**
   * `live`: this process captures. `standby`: another one does. `lost`: no connection; tried again.
   * `refused`: the database is not as it must be; `why` says what helps.
   */
  readonly state: 'connecting' | 'live' | 'standby' | 'lost' | 'refused' | 'closed'
  readonly why?: string
  /** Keys, tags and definitions that are still to be changed. */
  readonly pending: number
  /** How long the oldest of them has waited. */
  readonly lagMs: number
  /** Log that the slot holds on the database's disk, as of the last heartbeat. */
  readonly heldBytes: number
  /** Since the start: row changes taken, keys changed, times that definitions went as a whole. */
  readonly changes: number
  readonly keys: number
  readonly gaps: number
}

export interface RefreshAlert extends At {
  /**
   * `failed`: so many refreshes in a row have. `late`: it was due, and has not come. `expiring`: the
   * entry will end soon without one. `resolved`: it has come.
   */
  readonly kind: 'failed' | 'late' | 'expiring' | 'resolved'
  /** The same for the same trouble in every process: what a pager tells repeats by. */
  readonly id: string
  /** Failed refreshes in a row, as far as this process has heard. */
  readonly failures: number
  /** Of the last one. */
  readonly error?: unknown
  /** When the refresh was due, and when the entry ends; ms since 1970. */
  readonly dueAt: number
  readonly expiresAt: number | undefined
}

export const eventNames = [
  'answer',
  'stale',
  'load',
  'loadFailed',
  'fenced',
  'verified',
  'waited',
  'joined',
  'invalidated',
  'unstorable',
  'unreadable',
  'slowCodec',
  'callbackFailed',
  'storeFailed',
  'invalidationsLost',
  'eviction',
  'breaker',
  'limit',
  'switched',
  'precompute',
  'alert',
  'bus',
  'changes',
  'changesTaken',
  'changesGap',
  'changesLag',
] as const satisfies readonly (keyof CacheEvents)[]

/** Running totals since the cache was made. */
export interface Counters {
  hitMemory: number
  hitStore: number
  stale: number
  /** Of `stale`: read from the store. */
  staleStore: number
  /** Of `stale`: the call had begun a load itself, which failed or takes too long. */
  staleLoading: number
  /** Stale answers by why. */
  staleRevalidate: number
  staleError: number
  staleTimeout: number
  staleOutage: number
  staleMode: number
  staleAhead: number
  loaded: number
  /** Of `loaded`: the load had been started by another call of this process. */
  shared: number
  waited: number
  fallback: number
  placeholder: number
  /** Answers that say "does not exist". Counted beside their outcome. */
  negative: number
  /** Answers that the guard gave: it cannot exist. */
  refused: number
  /** Calls that got an error. */
  failed: number
  /** Of `failed`: the error is an answer, as `isFailure` has it; the call's own signal ended it. */
  answerErrors: number
  aborted: number
  loads: number
  loadsFailed: number
  /** Loads by what called for them. */
  loadsMiss: number
  loadsStale: number
  loadsEarly: number
  loadsForced: number
  loadsScheduled: number
  loadsVerify: number
  /** Failed loads by what called for them. */
  failuresMiss: number
  failuresStale: number
  failuresEarly: number
  failuresForced: number
  failuresScheduled: number
  failuresVerify: number
  /** Loads without a lease, by why. */
  unleasedWaited: number
  unleasedStore: number
  unleasedNolease: number
  unleasedUncacheable: number
  unleasedPrivate: number
  unleasedLocal: number
  leases: number
  leasesLost: number
  published: number
  fenced: number
  invalidated: number
  unstorable: number
  unreadable: number
  overloaded: number
  /** Loads that were given up at their deadline and went on. */
  abandoned: number
  /** Alerts that a refresh is missing. */
  alerts: number
  /** Of frames that the store gave, and that it took. */
  bytesRead: number
  bytesWritten: number
  /** What was served and looked at again, by what came of it: as in the event `verified`. */
  verifiedSame: number
  verifiedOvertaken: number
  verifiedDifferent: number
  verifiedOutdated: number
  verifiedFailed: number
}

export function newCounters(): Counters {
  return {
    hitMemory: 0, hitStore: 0, stale: 0, loaded: 0, waited: 0, fallback: 0, placeholder: 0,
    negative: 0, refused: 0, failed: 0, answerErrors: 0, aborted: 0, shared: 0,
    staleStore: 0, staleLoading: 0, staleRevalidate: 0, staleError: 0, staleTimeout: 0, staleOutage: 0, staleMode: 0, staleAhead: 0,
    loads: 0, loadsFailed: 0, loadsMiss: 0, loadsStale: 0, loadsEarly: 0, loadsForced: 0,
    loadsScheduled: 0, loadsVerify: 0,
    failuresMiss: 0, failuresStale: 0, failuresEarly: 0, failuresForced: 0, failuresScheduled: 0,
    failuresVerify: 0,
    unleasedWaited: 0, unleasedStore: 0, unleasedNolease: 0, unleasedUncacheable: 0,
    unleasedPrivate: 0, unleasedLocal: 0, leases: 0, leasesLost: 0, published: 0, fenced: 0,
    invalidated: 0, unstorable: 0, unreadable: 0, overloaded: 0, abandoned: 0, alerts: 0,
    bytesRead: 0, bytesWritten: 0,
    verifiedSame: 0, verifiedOvertaken: 0, verifiedDifferent: 0, verifiedOutdated: 0, verifiedFailed: 0,
  } // prettier-ignore
}
