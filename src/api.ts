/**
 * The public types, and nothing else. Defaults stand in cache/options.ts and are compared with the
 * words here by a test.
 */
import type { BreakwaterError } from './core/errors.ts'
import type {
  CacheEvents,
  ChangesHealth,
  Counters,
  LoadReason,
  RefreshAlert,
} from './core/events.ts'
import type { Mode } from './core/modes.ts'
import type { Clock, Codec, Guard, Store } from './ports.ts'

export type Awaitable<T> = T | PromiseLike<T>

/** Milliseconds, or text such as `'250ms'`, `'30s'`, `'10m'`, `'1h'`, `'7d'`. Fractions are rounded up. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

/** Bytes, or text such as `'64MiB'`. */
export type Bytes = number | `${number}${'B' | 'KiB' | 'MiB' | 'GiB'}`

export type CompressionName = 'zstd' | 'gzip' | 'brotli' | 'lz4' | 'snappy'

/** `{ signal: maybeUndefined }` must compile: `undefined` means "not given" everywhere. */
type Opt<T> = { [K in keyof T]?: T[K] | undefined }

/** What a resource's methods take: a loader without a parameter makes a singleton. */
export type Keyed<Arg> = unknown extends Arg ? (0 extends 1 & Arg ? Arg : void) : Arg

/** How an entry lives. On the cache: defaults. On a definition or a one-off: overrides; `0` or `false` undoes. */
// eslint-disable-next-line typescript/no-explicit-any -- a cache's defaults are for values of all types
export interface EntryDefaults<Value = any> extends Opt<{
  /** How long an entry is fresh, from the end of its load. `0`: share a running load in this process, store nothing. */
  ttl: Duration
  /** After `ttl`: serve stale at once, refresh in the background (RFC 5861). Default `0`. */
  staleWhileRevalidate: Duration
  /** After `ttl`: serve stale when the load fails or exceeds `softTimeout` (RFC 5861). Default `0`. */
  staleIfError: Duration
  /** With a usable stale value in hand: answer with it after this long, let the load go on. Default `false`. */
  softTimeout: Duration | false
  /** Hard deadline of a load: its signal aborts, its callers reject, its key is free again. Default `'30s'`. */
  loadTimeout: Duration
  /** The whole time a call waits for other processes; then stale if allowed, else its own load. Default: `loadTimeout`. */
  waitTimeout: Duration
  /** Life of a lease, renewed at a third of it while the load runs. Default `'3s'`. */
  lease: Duration
  /** Freshness of a negative entry (`null` or `undefined`), never more than `ttl`. `0`: not stored. Default `'30s'`. */
  negativeTtl: Duration
  /** After a failed refresh with a stale value in hand: no new attempt for this long. Default `'1s'`. */
  errorBackoff: Duration
  /** How long a failure with nothing to serve is remembered. Default `0`. */
  errorTtl: Duration
  /** How long a key is remembered as uncacheable after `noStore`, `private` or an unstorable value. Default `'5s'`. */
  uncacheableFor: Duration
  /** Random share taken off the ttl at each fill, 0 … 1; never adds. Default `0.1`. */
  jitter: number
  /** XFetch (Vattani et al., PVLDB 8, 2015). `maxLead` caps the lead as a share of the ttl. Default `{ beta: 1, maxLead: 0.25 }`. */
  earlyRefresh: Opt<{ beta: number; maxLead: number }> | false
  /** `'freeze'`: callers share one frozen copy. `'clone'`: a copy per caller. `'share'`: by reference. Default `'freeze'`. */
  values: 'freeze' | 'clone' | 'share'
  /** What values become in the store. Default: MessagePack. */
  codec: Codec<Value>
  /**
   * What is compressed there: encoded values over `over` bytes (default `'2KiB'`), where it makes
   * them at least 15 % smaller. `algorithm`: `'zstd'`, `'gzip'`, `'brotli'`, or `'lz4'` or `'snappy'`
   * where their package is installed; default zstd where Node has it (22.15), else gzip. Whatever is
   * set, all of them are read. `false`: nothing. Default `{ over: '2KiB' }`.
   */
  compress: Opt<{ over: Bytes; algorithm: CompressionName }> | false
  /** Largest encoded value that is stored. Default `'8MiB'`. */
  maxBytes: Bytes
  /** May a stale value cover this error? False: it is an answer, not a failure. Default: all errors. */
  isFailure: (error: unknown) => boolean
  /**
   * How it is used for now, or a function that is asked at each call (of a flag system, say).
   * `'bypass'`: around what is kept, to the source; nothing is stored, loads are still shared and
   * limited. `'no-refresh'`: nothing is loaded in the background. `'stale-only'`: nothing is loaded
   * at all, and what is kept is given within its windows, else `OVERLOADED`. `switchTo` comes before
   * it. Default `'normal'`.
   */
  mode: Mode | (() => Mode | undefined)
  /**
   * Looks again at this share of the hits: the loader runs once more, aside (`ctx.reason` is
   * `'verify'`), and what it gives is compared, by `equal` or in depth. Told by the event `verified`
   * and by counters. At most `perSecond` of each definition in each process (default 1), one at a
   * time, and none while loads queue or all places but one are taken (a `limit` of 1: none). What
   * requests leave to `precompute` is not looked at: it is as of its period, by design. `equal` is
   * asked only of two values that exist; without one, nothing over 256 KiB is. Default `false`.
   */
  verify:
    | number
    | (Opt<{ perSecond: number; equal: (served: Value, loaded: Value) => boolean }> & {
        sample: number
      })
    | false
}> {}

export interface CacheOptions
  extends
    EntryDefaults,
    Opt<{
      /** The shared tier. Left out: this process alone. */
      store: Store
      /** Deadline of one store operation. Default `'100ms'`. */
      storeTimeout: Duration
      /** How long reads wait, once per process, until the client was ready for the first time. Default `'2s'`. */
      connectTimeout: Duration
      /** Freshness of what is loaded while the store is gone, never more than `ttl`. Default `'5s'`. */
      outageTtl: Duration
      /** The in-process tier. `ttl`: upper bound for an entry's age here. Default `{ maxEntries: 10_000, maxBytes: '64MiB' }`. */
      memory: Opt<{ maxEntries: number; maxBytes: Bytes; ttl: Duration }> | false
      /**
       * What the source is given. `concurrency`: loads at once in this process; `'adaptive'` begins
       * at 64 and learns what the source copes with, from 8 to 256, by latency, timeouts and
       * failures (an object has other bounds). `queue`: how long one more load may wait before
       * `OVERLOADED`. `perSecond`: loads that begin in the whole fleet; of each process while the
       * store is gone. Default `{ concurrency: 'adaptive', queue: '5s' }`.
       */
      limit: Opt<{
        concurrency: number | 'adaptive' | Opt<{ initial: number; min: number; max: number }>
        queue: Duration
        perSecond: number
      }>
      /** `false`: keep nothing, but still share, limit and freeze. Default `true`. */
      enabled: boolean
      /** `false`: this process takes no part in making values ahead. Default `true`. */
      precompute: boolean
      /** Is given every background refresh, and what goes on after the answer (serverless platforms). */
      waitUntil: (work: Promise<unknown>) => void
      /** Default: the process's own, through the global timers at each call. */
      clock: Clock
    }> {
  /** `[A-Za-z0-9._-]{1,64}`: what separates this application's entries from all others'. */
  namespace: string
  ttl: Duration
}

export interface EntryOptions<Arg, Value>
  extends
    EntryDefaults<Value>,
    Opt<{
      /** Default: `null` and `undefined` mean "does not exist". */
      isNegative: (value: Value) => boolean
      /** `false`: not in the in-process tier. Default `true`. */
      memory: boolean
      /** `false`: not in the shared tier. Default `true`. */
      store: boolean
      /** Supplies a value when the load failed and nothing stale may be served; not stored. */
      fallback: (error: unknown, arg: Arg) => Value
      /** What a failure becomes for those who waited in another process. */
      errors: Opt<{ toWire(error: unknown): unknown; fromWire(json: unknown): Error }>
      /** What `invalidateTags` and `expireTags` reach the entry by: at most 1,000 texts. */
      tags: readonly string[] | ((value: Value, arg: Arg) => readonly string[])
    }> {}

/** Write `load` before options that take its value: inference goes from left to right. */
export interface Definition<Arg, Value> extends EntryOptions<NoInfer<Arg>, NoInfer<Value>> {
  /** What values become in the store. Default: MessagePack. One for a single type says what to load. */
  codec?: Codec<Value> | undefined
  /** Unique within the cache; part of every key. */
  name: string
  load(arg: Arg, ctx: LoadContext): Awaitable<Value>
  /** Loads what `getMany` misses, in one call. In order, or a Map by argument; an `Error` is that entry's failure. */
  loadMany?(
    args: readonly NoInfer<Arg>[],
    ctx: BatchContext<NoInfer<Arg>>,
  ): Awaitable<Many<NoInfer<Arg>, NoInfer<Value>>>
  /** What of the argument identifies the entry. Default: the argument itself. */
  key?: ((arg: NoInfer<Arg>) => unknown) | undefined
  /** Part of every key: another version never sees these entries. */
  version?: string | number | undefined
  /**
   * A Standard Schema (zod, valibot, arktype …). What is read from the store and does not conform is
   * a miss, as after a deploy that changed a shape; what is loaded and does not conform is answered
   * and not stored. It checks, and changes nothing.
   */
  schema?: { readonly '~standard': { validate(value: unknown): unknown } } | undefined
  /**
   * Refuses arguments that cannot exist before anything is loaded: they get `undefined`, so the
   * value's type must admit it. Made by `breakwater/guard`.
   */
  guard?: GuardFor<NoInfer<Arg>, NoInfer<Value>> | undefined
  /** Values made before anyone asks, by schedule: once per key and period, whatever the number of processes. */
  precompute?: Precompute<NoInfer<Arg>, NoInfer<Value>> | undefined
}

/** A list, or what gives one: asked anew each period. */
export type Args<Arg> = readonly Arg[] | (() => Awaitable<Iterable<Arg>> | AsyncIterable<Arg>)

/** The entry's `ttl` must outlast one missed refresh: twice `every`, or any two periods of `cron`. */
export type Precompute<Arg, Value> = (
  | {
      /** The period: at least 300 ms. Keys are spread over it. */
      every: Duration
      cron?: undefined
    }
  | {
      /** As in `'*\/9 * * * *'`: by the package croner. Keys are spread over a tenth of the period, at most a minute. */
      cron: string
      /** An IANA name such as `'Europe/Berlin'`. Default: that of the process. */
      timezone?: string | undefined
      every?: undefined
    }
) &
  (undefined extends Arg ? { args?: Args<Arg> | undefined } : { args: Args<Arg> }) &
  (
    | {
        /**
         * What a request gets that finds nothing. `'load'`: it loads, as for any definition.
         * `'wait'`: requests never load; it waits for the background, up to `waitTimeout`.
         * `'placeholder'`: neither; it gets `placeholder(arg)` at once.
         */
        onMiss: 'load' | 'wait'
      }
    | { onMiss: 'placeholder'; placeholder: (arg: Arg) => Value }
  ) & {
    /** When somebody is to be told that a refresh is missing. */
    alerts?: Alerts | undefined
  }

export interface Alerts extends Opt<{
  /** So many failed refreshes of a key in a row. Default `3`. */
  failures: number
  /** Not refreshed for so long after it was due. Default: half the period. */
  late: Duration
  /** So long before its entry ends, and it was not refreshed. Default: a quarter of the period. */
  expiring: Duration
  /** Called in each process that sees it: `alert.id` is the same in all of them. What it throws is told by `callbackFailed`. */
  notify: (alert: RefreshAlert) => Awaitable<unknown>
}> {}

/** A value of a guarded definition may be `undefined`: a refused argument gets it. */
export type GuardFor<Arg, Value> = undefined extends Value
  ? Guard<Arg>
  : 'the values of a guarded definition must admit undefined'

/**
 * In the order of the arguments, and as many; or a Map, matched by key and not by identity, where
 * absent means `null`: only where the value may be `null`.
 */
export type Many<Arg, Value> =
  readonly (Value | Error)[] | (null extends Value ? ReadonlyMap<Arg, Value | Error> : never)

/** Closures: they may be taken out of ctx. */
export interface EntryContext {
  /** Overrides the entry's ttl. */
  ttl(ttl: Duration): void
  /**
   * Narrows the entry's stale windows, each of those that are given. Not wider than its definition's
   * own options: readers apply the smaller.
   */
  windows(windows: Opt<{ staleWhileRevalidate: Duration; staleIfError: Duration }>): void
  /** Tags beside those of the definition. */
  tags(...more: string[]): void
  /** Kept with the entry and given to the next load in `previous`: an ETag, say. */
  meta(meta: unknown): void
  /** The result is shared with the callers who joined, and not stored. */
  noStore(): void
  /** The result is for the starting call alone; everyone else who joined loads for themselves. */
  private(): void
}

export interface LoadContext<Value = unknown, Meta = unknown> extends EntryContext {
  readonly key: string
  /** Aborts when the last caller has left, at the deadline, and at `close()`. */
  readonly signal: AbortSignal
  /** Milliseconds since 1970 at which this load is given up. */
  readonly deadline: number
  /** `'verify'`: only to see whether what was served is still what the source has. */
  readonly reason: LoadReason
  /** Present after expiry and `expire`, absent after any invalidation. */
  readonly previous: { value: Value; storedAt: number; meta: Meta } | undefined
  /** `return ctx.notModified()`: renews the previous value. Throws `NO_PREVIOUS` when nothing is there to renew. */
  notModified(): never
}

export interface BatchContext<Arg> extends Pick<LoadContext, 'signal' | 'deadline' | 'reason'> {
  /** What may be said of one entry of the batch. */
  entry(arg: Arg): EntryContext
}

export type LoadOnce<Value> = { load(ctx: LoadContext): Awaitable<Value> }['load']

/** Each caller's own: never changes what another caller gets. */
export interface Call extends Opt<{
  /** Rejects this call with `signal.reason`. The load stops when its last caller has left. */
  signal: AbortSignal
  /** Then the stale value where one is allowed, else `WAIT_TIMEOUT`. The load goes on. */
  timeout: Duration
  /** Oldest acceptable value, counted from the start of its load. */
  maxAge: Duration
}> {}

export interface InvalidateOptions extends Opt<{
  /**
   * How long the source may still give old values (it reads from replicas that lag): what is loaded
   * until then is used no longer than that. Default `0`.
   */
  settle: Duration
}> {}

export interface Stored<Value> {
  value: Value
  /** Milliseconds since 1970. */
  storedAt: number
  freshUntil: number
}

export type Peek<Value> =
  { state: 'missing' } | ({ state: 'fresh' | 'stale'; meta: unknown } & Stored<Value>)

export type Lookup<Value> =
  | { outcome: 'placeholder' | 'fallback' | 'refused'; value: Value }
  | ({
      outcome: 'hit' | 'stale' | 'loaded' | 'waited'
      tier: 'memory' | 'store' | 'source'
    } & Stored<Value>)

/** By address: a key of the cache, an argument of a resource. */
interface Addressed<Address> {
  /** Makes the entry unusable, in every tier and process, loads in flight included. */
  invalidate(at: Address, options?: InvalidateOptions): Promise<void>
  invalidateMany(at: readonly Address[], options?: InvalidateOptions): Promise<void>
  /** Makes the entry stale as of now; with no stale window it is `invalidate`. */
  expire(at: Address): Promise<void>
  expireMany(at: readonly Address[]): Promise<void>
  /** Invalidates all entries of the resource, or of the whole cache, at the price of one. */
  clear(): Promise<void>
  /** Makes all of them stale as of now. */
  expireAll(): Promise<void>
}

/** Made by `cache.define`, once, at module level. */
export interface Resource<Arg, Value> extends Addressed<Arg> {
  readonly name: string
  /** Names the entry for logs and the command line. */
  key(arg: Arg): string
  get(arg: Arg, call?: Call): Promise<Value>
  /** `get` with the story: outcome, tier, instants. */
  lookup(arg: Arg, call?: Call): Promise<Lookup<Value>>
  /** Loads now; never joins a load that began before. Rejects if that fails, and keeps the old entry. */
  refresh(arg: Arg, call?: Call): Promise<Value>
  /**
   * In input order; duplicates are answered at each position. One round trip for what is stored,
   * one `loadMany` for our share of what is missing. Rejects with the first failure.
   */
  getMany(args: readonly Arg[], call?: Call): Promise<Value[]>
  getManySettled(args: readonly Arg[], call?: Call): Promise<PromiseSettledResult<Value>[]>
  /** Never loads. */
  peek(arg: Arg): Promise<Peek<Value>>
  /** Fences loads in flight exactly as `invalidate` does. */
  set(arg: Arg, value: Value, options?: EntryOptions<Arg, Value>): Promise<void>
  /** From the next call on, in this process; comes before the option `mode`, which `undefined` restores. */
  switchTo(mode: Mode | undefined): void
}

export interface Cache extends Addressed<string>, AsyncDisposable {
  readonly namespace: string
  define<Arg, Value>(definition: Definition<Arg, Value>): Resource<Keyed<Arg>, Value>
  /** One-off: the same engine for a key and a loader given at the call. */
  getOrLoad<Value>(
    key: string,
    load: LoadOnce<Value>,
    options?: EntryOptions<string, NoInfer<Value>> & Call,
  ): Promise<Value>
  peek<Value = unknown>(key: string): Promise<Peek<Value>>
  set<Value>(
    key: string,
    value: Value,
    options?: EntryOptions<string, NoInfer<Value>>,
  ): Promise<void>
  /** Invalidates every entry that carries one of the tags, at the price of one, however many there are. */
  invalidateTags(tags: string | readonly string[], options?: InvalidateOptions): Promise<void>
  /** Makes them stale as of now: stale answers are kept. */
  expireTags(tags: string | readonly string[]): Promise<void>
  /** Returns what removes the listener. A listener that throws harms nobody. */
  on<E extends keyof CacheEvents>(event: E, listener: (event: CacheEvents[E]) => void): () => void
  /** The same for all definitions that are not switched by themselves, and for one-off keys. */
  switchTo(mode: Mode | undefined): void
  /** Running totals per definition; one-off keys count as `''`. Synchronous, no I/O. */
  counters(): Readonly<Record<string, Readonly<Counters>>>
  /** A snapshot, synchronous, no I/O. `degraded` still serves. */
  health(): Health
  /** Resolves when no load, refresh or publish is under way. */
  idle(): Promise<void>
  /** Drains within `timeout` (default `'5s'`), then rejects who still waits. Never closes the user's client. */
  close(options?: Opt<{ timeout: Duration }>): Promise<void>
}

export interface Health {
  status: 'ok' | 'degraded' | 'closed'
  store: 'none' | 'up' | 'down'
  bus: 'none' | 'up' | 'silent'
  /** Masters that the breaker keeps calls from now; without a cluster there is one. */
  breakersOpen: number
  /** In this process. */
  loads: { running: number; queued: number }
  /** So many loads may run at once now; given up at their deadline, and still running. */
  limit: { concurrency: number; abandoned: number }
  /** The in-process tier; `evicted`: dropped for want of room since the start. Without one, zeros. */
  memory: { entries: number; bytes: number; evicted: number }
  /** Entries that missed their precompute. */
  late: readonly { name: string; key: string; expiresAt: number }[]
  /** Captures of a database's changes (`breakwater/postgres`). */
  changes: readonly ChangesHealth[]
}

export type { BreakwaterError }
