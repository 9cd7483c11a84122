/** What the verbs of the cache (look, fetch, load, write …) share: one record per cache, and nothing global. */
import type { Counters, LoadReason, StaleCause, Unleased } from '../core/events.ts'
import { everything, resourceLabel, type Label } from '../core/labels.ts'
import type { Background } from '../flight/background.ts'
import type { Cooldowns } from '../flight/cooldowns.ts'
import type { Flight } from '../flight/flight.ts'
import type { Flights } from '../flight/flights.ts'
import type { Limiter } from '../flight/limiter.ts'
import type { Waiters } from '../flight/waiters.ts'
import type { LoadContext } from '../api.ts'
import type { Clock, CodecPort, GuardPort, InPieces, Memory, Token } from '../ports.ts'
import type { Seat } from './batch.ts'
import type { Ahead } from './ahead.ts'
import type { Companion } from './companions.ts'
import type { LoadTracer } from './traced.ts'
import type { Entry } from './entry.ts'
import type { Echoes } from './heed.ts'
import type { Hearing } from './hearing.ts'
import type { LastChanges } from './last-changes.ts'
import type { Listeners } from './listeners.ts'
import type { Looks } from './look.ts'
import type { EntryRules } from './options.ts'
import type { Switched } from './modes.ts'
import type { Outbox } from './outbox.ts'
import type { Presence } from './presence.ts'
import type { StoreAccess } from './store-access.ts'
import type { Tags } from './tags.ts'
import type { Writes } from './writes.ts'

export interface Engine {
  readonly namespace: string
  /** Names this cache among all: what its tokens begin with. */
  readonly id: string
  readonly clock: Clock
  /** That every process can read; the first is the usual one. */
  readonly codecs: readonly CodecPort[]
  /** After a turn of the event loop. */
  turn(): Promise<void>
  /** What is called between the pieces of one long work, and gives a promise where a turn is due. */
  slices(): InPieces['pause']
  readonly memory: Memory<Entry> | undefined
  /** Longest that an entry stays in memory unasked. */
  memoryTtlMs: number
  readonly outageTtlMs: number
  /** What definitions begin with. */
  readonly defaults: EntryRules
  readonly storeTimeoutMs: number
  store: StoreAccess | undefined
  readonly hearing: Hearing
  readonly flights: Flights<Answer, Work>
  /** Flights of `refresh`: joined only by another `refresh`, and only before their load has begun. */
  readonly forced: Map<string, Flying>
  readonly looks: Looks
  readonly waiters: Waiters
  readonly cooldowns: Cooldowns
  readonly limiter: Limiter
  readonly background: Background
  readonly writes: Writes
  readonly echoes: Echoes
  readonly outbox: Outbox
  readonly tags: Tags
  /** Changes by tag that the store did not take. */
  readonly tagOutbox: Outbox
  readonly listeners: Listeners
  readonly companions: Set<Companion>
  /** What runs around every loader. */
  readonly tracers: Set<LoadTracer>
  /** Of keys and tags; `undefined`: nothing is verified. */
  /** Tells who asks over the bus of this process. */
  presence: Presence | undefined
  verified: LastChanges | undefined
  /** Makes values before anyone asks. `undefined`: nothing is kept, or it is not there. */
  ahead: Ahead | undefined
  /** Of definitions whose values are big: how big the last one was. */
  readonly bigSizes: Map<string, number>
  readonly switched: Switched
  /** This process's share of every early-refresh draw. */
  readonly seed: number
  newToken(): Token
  /** Runs in the context in which the cache was made, not in the caller's. */
  detached<T>(run: () => T): T
  waitUntil: ((work: Promise<unknown>) => void) | undefined
  /** Counts changes heard of or made here: what was read before the last one may be of before it. */
  changes: number
  /** False: `enabled: false`, nothing is remembered between calls. */
  readonly remembers: boolean
  /** `draining`: no new call is taken, what is under way may end. */
  state: 'open' | 'draining' | 'closed'
}

/** A definition, or the one-off keys of one call. */
export interface Source {
  readonly name: string
  readonly rules: EntryRules
  readonly counters: Counters
  /** What every entry of it can be changed by, whatever its own tags. */
  readonly labels: readonly Label[]
  /** Refuses arguments that cannot exist. */
  readonly guard: GuardPort | undefined
  /** Goes around what is kept. */
  readonly isAround: boolean
}

export function sourceOf(
  name: string,
  rules: EntryRules,
  counters: Counters,
  guard?: GuardPort,
): Source {
  const own = name === '' ? [everything] : [everything, resourceLabel(name)]
  return { name, rules, counters, labels: [...own, ...rules.tags.fixed], guard, isAround: false }
}

/** The same, in no tier. */
export function around(source: Source): Source {
  return { ...source, rules: { ...source.rules, memory: false, store: false }, isAround: true }
}

/** One entry that somebody wants, and how to make it. */
export interface Target {
  readonly key: string
  readonly source: Source
  /** What a caller named it by. */
  readonly arg: unknown
  load(ctx: LoadContext): unknown
}

export interface Answer {
  readonly entry: Entry
  readonly outcome: 'hit' | 'stale' | 'loaded' | 'waited'
  readonly tier: 'memory' | 'store' | 'source'
  /** For the call that started the load, and nobody else. */
  readonly private: boolean
  /** Loaded, and not to be kept as it is. */
  readonly isUnkept?: boolean
  /** Why it is stale. */
  readonly cause?: StaleCause | undefined
  /** Stale, and yet this call began a load. */
  readonly hasLoad?: boolean
  /** Another call had started the load that it is of. */
  readonly isShared?: boolean
  /** `Engine.changes` of a stale answer that a refresh may begin with, if nothing has changed since. */
  readonly refreshable?: number | undefined
}

export type Flying = Flight<Answer, Work>

/** What a flight is to do. */
export interface Work {
  readonly target: Target
  readonly reason: LoadReason
  /** Only a value whose load began at this instant or later will do. */
  readonly since: number
  /** `share`: contend for the lease. `force`: replace whoever holds it. `alone`: for one call, unshared. */
  readonly mode: 'share' | 'force' | 'alone'
  /** Not to contend for a lease at all, and why. */
  readonly unleased?: Unleased | undefined
  /** Its place in a common load, if it comes to that. */
  seat: Seat | undefined
  /** The entry that is there: to fall back on, to renew, or for `previous`. */
  known: Entry | undefined
  /** What the store held when it was last asked. */
  seen: Token | 'unreadable' | undefined
  /** If it fails, nobody tries for so long; `undefined`: as the entry's rules have it. */
  readonly backoffMs?: number | undefined
  /** False: not without the store, unless somebody waits for it. */
  readonly mayGoAlone?: boolean | undefined
}

/** A function, since it changes while others wait. */
export function isClosed(engine: Engine): boolean {
  return engine.state === 'closed'
}

/** Whether the store may be asked about this key now. */
export function mayAsk(engine: Engine, rules: EntryRules, key: string): boolean {
  if (!usesStore(engine, rules) || engine.store!.isDown(key)) return false
  return engine.outbox.waits(key) === undefined
}

/** Freshness of what is loaded while the store is gone. What is made ahead is made anew by schedule, then too. */
export function outageTtlOf(engine: Engine, rules: EntryRules): number {
  return rules.precompute === undefined ? engine.outageTtlMs : rules.ttlMs
}

export function usesStore(engine: Engine, rules: EntryRules): boolean {
  return engine.store !== undefined && rules.store && rules.ttlMs > 0
}

export function usesMemory(engine: Engine, rules: EntryRules): boolean {
  return engine.memory !== undefined && rules.memory && rules.ttlMs > 0
}
