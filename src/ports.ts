/**
 * The outside world on one page: what the engine asks of time, of a shared store with its bus, and
 * of a codec. Everything that is slow, random or can fail comes in through here, so that the whole
 * engine also runs under a virtual clock on an imagined network.
 */

import type { Label } from './core/labels.ts'
import type { Tokens } from './core/token-bucket.ts'

/** Marks what breakwater's own factories have made. Registered, so that two copies of us agree. */
export const port: unique symbol = Symbol.for('breakwater.port') as never

/** Time and chance. `now()` is in milliseconds and never runs backwards within a process. */
export interface Clock {
  now(): number
  /** 0 ≤ r < 1. A clock that always gives 0 has neither jitter nor early refresh. */
  random(): number
  /** Runs once after `ms` (≤ 2³¹−1), keeps no process alive; returns what cancels it. */
  after(ms: number, run: () => void): () => void
}

/** A store as users see it: opaque. Made by `redisStore`, `memoryStore`. */
export interface Store {
  readonly [port]: 'store'
}

/** A codec as users see it: opaque. Keeps values of `Value`; `Codec<unknown>` keeps whatever comes. */
// eslint-disable-next-line typescript/no-explicit-any -- the default of a codec is to be one for all
export interface Codec<in Value = any> {
  readonly [port]: 'codec'
  /** Types alone: never there. */
  readonly [keeps]?: ((value: Value) => void) | undefined
}

declare const keeps: unique symbol

/** A guard as users see it: what may exist of a definition's arguments. Made by `breakwater/guard`. */
export interface Guard<in Arg> {
  readonly [port]: 'guard'
  /** Before the record can be asked for: a guard that does not know of it would refuse it. */
  add(arg: Arg): Promise<void>
  addMany(args: Iterable<Arg> | AsyncIterable<Arg>): Promise<void>
  /** Anew, from all that exist; what is added meanwhile is in it, too. Until the end the old one answers. */
  rebuild(all: Iterable<Arg> | AsyncIterable<Arg>): Promise<void>
}

// ── store ───────────────────────────────────────────────────────────────────────────────────────

/** 22 characters of `[A-Za-z0-9_-]`: names a lease's holder, and later the frame that it filled. @internal */
export type Token = string

/** @internal */
export interface StorePort extends Store {
  /** One session per cache. Opens nothing that could keep the process alive without `close()`. */
  open(scope: StoreScope): StoreSession
}

/** @internal */
export interface StoreScope {
  readonly namespace: string
  readonly clock: Clock
  /** Names this cache among all; 14 characters of `[A-Za-z0-9_-]`. Its beats come back to it alone. */
  readonly id: string
  /** In the order in which the store did what they tell of. Never throws. */
  onMessage(message: BusMessage): void
  /** `up`: subscribed, and messages from now on are heard. `down`: some may be lost from now on. */
  onBus(state: 'up' | 'down'): void
  /** The client became ready, or stopped to be. */
  onReady(ready: boolean): void
  /** Told once: by this policy the store may evict leases. */
  onEviction?(policy: string): void
  /** A background fault (never of an operation, which rejects by itself). */
  onFault(error: unknown): void
}

/**
 * The shared tier. All keys are entry keys (any text); the session maps them to its own layout.
 * No deadline of its own: whoever calls gives up by itself. An operation rejects when the store
 * could not do it; what the protocol can answer is answered. Leases live by the store's own time.
 * @internal
 */
export interface StoreSession {
  /** Whether the client could send now. An operation may be tried anyway before the first time. */
  readonly ready: boolean
  /** False: nothing is pushed; waiters poll, and L1 keeps little. */
  readonly hasBus: boolean
  /** True: what is read may be old, and is not kept. */
  readonly fromReplica: boolean
  /** Who keeps what, where that is not one server for all. */
  readonly shards?: Shards | undefined
  /** Where bodies that are too big for one command lie; `undefined`: in their frames. */
  readonly bodies?: Bodies | undefined
  read(key: string): Promise<Uint8Array | undefined>
  /** In one round trip, in their order; what one server could not answer is an error at its place. */
  readMany(keys: readonly string[]): Promise<readonly (Uint8Array | null | undefined | Error)[]>
  acquire(request: AcquireRequest): Promise<Acquired>
  publish(request: PublishRequest): Promise<Published>
  /** Renews the head of the frame `seen`, body untouched. */
  touch(request: TouchRequest): Promise<'ok' | 'fenced' | 'gone'>
  /** Extends the lease if it is mine; tells whether anybody waits elsewhere. */
  renew(request: { key: string; token: Token; leaseMs: number }): Promise<Renewed>
  /** Gives the lease back and wakes those who wait. */
  release(request: { key: string; token: Token; why: ReleaseReason }): Promise<void>
  fail(request: FailRequest): Promise<void>
  /** Deletes frame and lease of each key together, and always tells everyone. `id` is in the message. */
  invalidate(keys: readonly string[], id: Token): Promise<void>
  /** Ends freshness now, deletes the lease, always tells everyone. Without windows: as `invalidate`. */
  expire(keys: readonly string[], id: Token): Promise<void>
  write(request: WriteRequest): Promise<'ok' | 'late' | 'kept'>
  /** Tells everyone that a value is asked for which only they may load. Where there is a bus. */
  want(key: string, id: Token): Promise<void>
  /** Has every process of the namespace tell this session of itself. Only where there is a bus. */
  rollCall?(): Promise<void>
  /** The answer to the roll call of the session `to`, for its ears alone. */
  present?(to: string, text: string): Promise<void>
  /** For who looks from outside. */
  readonly inspection?: Inspection | undefined
  /** Is this rejection the store's own answer (OOM, READONLY, NOPERM …)? Then it is there. */
  isRefusal(error: unknown): boolean
  /** Did the store itself say so, refusal or not? Then it is not silent, if not well. */
  isReply(error: unknown): boolean
  /** Changes whenever anything came in, be it a part of a reply: the connection lives. */
  received(): number
  /** Makes the connection, or the subscription, anew: it is dead without knowing it. */
  reconnect(what: 'commands' | 'bus'): void
  /** What was invalidated or expired by tag. Rejects where it cannot be known: then no frame is checked. */
  epochs(request: EpochsRequest): Promise<EpochNews>
  /** Invalidates, expires or lets settle by tag, at the same price for any number of entries; tells everyone. */
  bump(request: BumpRequest): Promise<Bumped>
  /** Of the bucket that says how many loads may begin per second in the whole fleet. */
  tokens(request: TokensRequest): Promise<Tokens>
  /**
   * Sends beat `n` to this session's own ears, through every master, and brings the store's time and
   * news of tags where asked. Settles when any master has answered: one that does not is told of by
   * `sent` alone. A single server is asked in one round trip.
   */
  beat(n: number, asked?: EpochsRequest): Promise<Beat>
  /** Ends what the session opened itself, never the user's client. Idempotent. */
  close(): Promise<void>
}

/**
 * Bodies of frames that lie apart from them, piece by piece: one command with all of it would hold
 * up the server, both event loops, and everyone behind it. A body goes with its frame, however that
 * goes, and by itself a while after the frame's life, or where no frame comes.
 * @internal
 */
export interface Bodies {
  put(key: string, piece: PutPiece): Promise<void>
  /** Shorter where it ends, empty where there is none. */
  get(key: string, piece: GetPiece): Promise<Uint8Array>
  /** Of a frame that was not stored. */
  drop(key: string, id: Token): Promise<void>
}

/** @internal */
export interface PutPiece {
  readonly id: Token
  readonly at: number
  readonly bytes: Uint8Array
}

/** @internal */
export interface GetPiece {
  readonly id: Token
  readonly at: number
  readonly length: number
}

/** What lies in the store as it lies there: to ask changes nothing, and wakes nobody. @internal */
export interface Inspection {
  entry(key: string): Promise<Lying>
  /** Marks of these labels, whatever their epoch, and the newest `most` of all. */
  tags(labels: readonly Label[], most: number): Promise<LyingTags>
}

/** @internal */
export interface Lying {
  readonly frame: Uint8Array | undefined
  /** What is left of its life; `undefined`: no frame, or one without an end. */
  readonly leftMs: number | undefined
  readonly lease: LyingLease | undefined
}

/** @internal */
export interface LyingLease {
  /** `undefined`: only the failure of an earlier load is kept. */
  readonly holder: Token | undefined
  readonly leftMs: number
  /** Somebody waits until this instant (store's time, ms). */
  readonly awaitedUntil: number
  readonly failure: { readonly error: string; readonly backoffUntil: number } | undefined
}

/** @internal */
export interface LyingTags {
  /** `undefined`: no tag of the namespace has ever been changed, or its state was lost. */
  readonly highest: number | undefined
  readonly floor: number
  readonly count: number
  readonly marks: readonly Mark[]
  readonly newest: readonly Mark[]
  readonly settling: readonly Settling[]
}

/** Where something is kept: by its entry's key; `undefined`: what is known of tags. @internal */
export type Site = string | undefined

/** A store of many servers, each of which may be lost by itself. @internal */
export interface Shards {
  /** Those that take writes, as they are known now. */
  servers(): readonly string[]
  /** Whose a site is now: the same name as long as it is the same server; `''`: nobody's that is known. */
  serverOf(site: Site): string
  /** A light question to the server of that site, by the way that all writes go. */
  ping(site: Site): Promise<unknown>
  /**
   * Who answers by this name, as far as is known: another number when another one does, or the same
   * in another role; `undefined` where nobody knows.
   */
  lastKnown(server: string): number | undefined
  /** The same, asked now. */
  identify(server: string): Promise<number | undefined>
  /** Changes whenever anything came in from this server, be it a part of a reply. */
  received(server: string): number
  /** Makes the connection to this server anew. */
  reconnect(server: string): void
}

/** @internal */
export interface AcquireRequest {
  readonly key: string
  readonly token: Token
  readonly leaseMs: number
  /** Stamp of the frame that was seen; `undefined`: none; `'unreadable'`: never answer with a value. */
  readonly seen: Token | 'unreadable' | undefined
  /** Holder whose load this caller waited for: only it is given that load's failure. */
  readonly waitedFor: Token | undefined
  /**
   * `take`: ask, do not wait. `wait`: when denied, note that somebody waits. `override`: the same,
   * whatever back-off runs. `force`: replace the holder.
   */
  readonly mode: 'take' | 'wait' | 'override' | 'force'
  /** How this load ends is told to everyone, whether they wait or not. */
  readonly announces?: boolean | undefined
}

/** @internal */
export type Acquired =
  | { readonly type: 'value'; readonly frame: Uint8Array }
  | { readonly type: 'lease' }
  /** Somebody else loads; `ms`: what is left of the lease; `token`: whose it is. */
  | { readonly type: 'wait'; readonly ms: number; readonly token: Token }
  /** The very load that this caller waited for has failed. */
  | { readonly type: 'failed'; readonly error: string; readonly backoffMs: number }
  /** An earlier load failed and nobody may try for `ms`. */
  | { readonly type: 'backoff'; readonly error: string; readonly ms: number }
  /** The store answers but refuses writes: load without a lease. `why`: its own word (OOM, READONLY …). */
  | { readonly type: 'nolease'; readonly why: string }

/** @internal */
export interface PublishRequest {
  readonly key: string
  readonly token: Token
  readonly frame: Uint8Array
  /** Whole life of the frame in the store, a positive integer. */
  readonly lifeMs: number
}

/** `kept`: ours to publish, but a newer version's frame is there and stays. Waiters are woken. @internal */
export type Published = 'ok' | 'fenced' | 'kept'

/** @internal */
export interface TouchRequest {
  readonly key: string
  readonly token: Token
  readonly seen: Token
  /** The new head (see core/frame.ts); the old frame's body is kept behind it. */
  readonly head: Uint8Array
  readonly lifeMs: number
}

/** @internal */
export type Renewed = 'lost' | 'alone' | 'awaited'

/** @internal */
export type ReleaseReason = 'abort' | 'overload' | 'late' | 'private' | 'unstorable' | 'close'

/** @internal */
export interface FailRequest {
  readonly key: string
  readonly token: Token
  /** JSON text for those who waited. */
  readonly error: string
  /** No new attempt by anyone for this long; 0: whoever did not wait may try at once. */
  readonly backoffMs: number
}

/** @internal */
export interface WriteRequest {
  readonly key: string
  readonly frame: Uint8Array
  readonly lifeMs: number
  /** The frame's stamp; also names the message. */
  readonly stamp: Token
  /** Store's time in ms after which this write must not land any more. */
  readonly notAfter: number
}

/** @internal */
export interface TokensRequest {
  /** At least 1. */
  readonly wanted: number
  readonly perSecond: number
}

/** @internal */
export interface Beat {
  /** The store's time, ms since 1970. */
  readonly time: number
  /** Changes when another server (or another role of it) answers than before, or is a master. */
  readonly server: string
  /** The masters as they are known now, each with its beat. Empty without a bus. */
  readonly sent: readonly SentBeat[]
  /** Never rejects. `undefined`: not asked for, refused, or not to be had. */
  readonly news: Promise<EpochNews | undefined>
}

/** @internal */
export interface SentBeat {
  /** The master's name, which comes back in the message. */
  readonly through: string
  /** Never rejects. False: it was not taken, so that nothing will come back. */
  readonly taken: Promise<boolean>
}

/**
 * When a label (core/labels.ts) was last invalidated, or expired. Epochs are the namespace's own
 * count, ahead of the store's clock in µs: each change gets a later one.
 * @internal
 */
export interface Mark {
  readonly kind: 'gone' | 'expired'
  readonly label: Label
  readonly epoch: number
}

/** @internal */
export interface EpochsRequest {
  /** Marks of later epochs are asked for. */
  readonly since: number
  /** The highest that this process knows of: state that was lost begins later than that. */
  readonly known: number
  /** What is settling, too. */
  readonly settling: boolean
  /** Looked up whatever their epoch. */
  readonly labels: readonly Label[]
}

/** @internal */
export interface EpochNews {
  /** The store's time, ms since 1970. */
  readonly time: number
  readonly highest: number
  /** Whatever its tags, a frame as of an earlier epoch is not valid. */
  readonly floor: number
  /** `marks` has all of later epochs than this one. */
  readonly since: number
  readonly marks: readonly Mark[]
  readonly settling: readonly Settling[]
}

/** What began to load before `until` (store's time) is used no longer than that. @internal */
export interface Settling {
  readonly label: Label
  readonly until: number
}

/** @internal */
export interface BumpRequest {
  /** At most 500. */
  readonly labels: readonly Label[]
  /** `settle`: nothing but that. */
  readonly kind: 'gone' | 'expired' | 'settle'
  readonly known: number
  /** 0: at once and for good. */
  readonly settleMs: number
  /** Names the message. */
  readonly id: Token
}

/** @internal */
export interface Bumped {
  readonly epoch: number
  /** The highest before it: who knows up to there has missed nothing. */
  readonly previous: number
  /** Until when it settles; 0: nothing does. */
  readonly until: number
}

/** What processes tell each other. Small: a value only up to 1 KiB. @internal */
export type BusMessage =
  | {
      readonly type: 'published'
      readonly key: string
      readonly token: Token
      readonly frame: Uint8Array | undefined
    }
  | {
      readonly type: 'failed'
      readonly key: string
      readonly token: Token
      readonly error: string
      readonly backoffMs: number
    }
  | {
      readonly type: 'released'
      readonly key: string
      readonly token: Token
      readonly why: ReleaseReason
    }
  | {
      readonly type: 'invalidated' | 'expired' | 'written' | 'wanted'
      readonly key: string
      readonly id: Token
    }
  | ({
      readonly type: 'bumped'
      readonly id: Token
      readonly kind: BumpRequest['kind']
      readonly labels: readonly Label[]
    } & Bumped)
  /** `through`: the master that it was published through, and that is heard if it comes. */
  | { readonly type: 'beat'; readonly n: number; readonly through: string }
  /** Somebody looks: who hears it tells the session `id` of itself. */
  | { readonly type: 'rollCall'; readonly id: string }
  | { readonly type: 'present'; readonly id: string; readonly text: string }

/** What is told of one entry. @internal */
export type EntryMessage = Extract<BusMessage, { readonly key: string }>

// ── memory ───────────────────────────────────────────────────────────────────────────────────────

/** The in-process tier, bounded by count and bytes; the least recently used goes first. @internal */
export interface Memory<E> {
  /** Counts what was put in, and what was dropped: unchanged, `get` would give what it gave before. */
  readonly changes: number
  readonly entries: number
  readonly bytes: number
  /** Dropped for want of room. */
  readonly evicted: number
  /** Makes it the last to be dropped. */
  get(key: string): E | undefined
  /** Bigger than the whole tier: not kept. */
  set(key: string, entry: E, bytes: number): void
  delete(key: string): void
  clear(): void
}

// ── codec ───────────────────────────────────────────────────────────────────────────────────────

/** Value to bytes and back. */
export interface CodecPort<in Value = unknown> extends Codec<Value> {
  /** Written into every frame. 1 MessagePack, 2 JSON, 3 Protocol Buffers, 4 v8; 128 to 255: the user's own. */
  readonly id: number
  readonly name: string
  /** Throws `Unstorable` (core/unstorable.ts) with the path of what it cannot keep. */
  encode(value: unknown): Uint8Array
  /**
   * Before about so many bytes are encoded: memory that was never touched costs time by the page, and
   * this is spent piece by piece.
   */
  makeRoom?(bytes: number, pause: InPieces['pause']): Promise<void>
  /** Throws when the bytes are not its own. Nothing of the result is shared with `bytes`' pool. */
  decode(bytes: Uint8Array): unknown
  /** As `decode`, with plain objects and arrays frozen; where it is quicker than a walk afterwards. */
  decodeFrozen?(bytes: Uint8Array): unknown
  /** As `decode`, for what would hold the event loop for long: piece by piece. */
  decodeInPieces?(bytes: Uint8Array, how: InPieces): Promise<unknown>
  /** What writes `ctx.meta`, where this one is made for a single type. Default: itself. */
  readonly meta?: CodecPort
  /** Encrypts what goes to the store; after compression, which finds nothing in what is encrypted. */
  readonly seal?: Seal
}

export interface InPieces {
  /** As `decodeFrozen` has it. */
  readonly frozen: boolean
  /** Called between pieces of about a millisecond. A promise: the event loop is due a turn. */
  pause(): Promise<void> | undefined
}

export interface Seal {
  /** `context`: what it is stored as. Opened as anything else, it is refused. */
  close(bytes: Uint8Array, context: string): Uint8Array
  /** Throws unless it was closed with one of the known keys, as this, and is whole. */
  open(bytes: Uint8Array, context: string): Uint8Array
}

// ── compression ─────────────────────────────────────────────────────────────────────────────────

/** @internal */
export interface Decompression {
  /** Written into every frame: 1 to 63. */
  readonly id: number
  readonly name: string
  /** Throws unless exactly `length` bytes come out. Allocates no more than that, whatever comes in. */
  decompress(bytes: Uint8Array, length: number): Uint8Array
  /** The same beside the event loop, for much at once. */
  decompressAside(bytes: Uint8Array, length: number): Promise<Uint8Array>
}

/** @internal */
export interface Compression extends Decompression {
  compress(bytes: Uint8Array): Uint8Array
  compressAside(bytes: Uint8Array): Promise<Uint8Array>
}

/** @internal */
export interface Compressions {
  /** What is taken where nothing is said. */
  readonly usual: Compression
  /** By the name that users write; throws `INVALID_OPTION` where it is not to be had in this process. */
  named(name: unknown, option: string): Compression
  /** By the number in a frame; `undefined` where this process cannot read it. */
  numbered(id: number): Decompression | undefined
}

// ── guard ───────────────────────────────────────────────────────────────────────────────────────

/**
 * Refuses what cannot exist. "Maybe" is the answer to everything that is not certain: a refusal of
 * what does exist hides data.
 * @internal
 */
export interface GuardPort<in Arg = unknown> extends Guard<Arg> {
  /** What is known here at once: `false`, it cannot exist; `true`, maybe; `undefined`: `ask`. Never throws. */
  know(arg: Arg): boolean | undefined
  /** False: it cannot exist. Bounded in time. Never rejects: in doubt `true`. */
  ask(arg: Arg): Promise<boolean>
}
