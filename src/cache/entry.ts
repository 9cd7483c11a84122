/**
 * A value with its instants, as this process holds it. Instants are on this process's own clock:
 * converted once, when a frame is taken in, and never compared with another host's again.
 *
 * Invariant: before `hotUntil`, and while the process hears the bus, it is served without asking
 * anyone; nothing in memory outlives the entry in the store.
 */
import { type Instants } from '../core/decide.ts'
import { exponentialDraw, refreshAt, type EarlyRefresh } from '../core/early-refresh.ts'
import type { Head, Uncacheable } from '../core/head.ts'
import type { Label } from '../core/labels.ts'
import type { CodecPort } from '../ports.ts'
import type { Values } from './entry-rules.ts'

export interface EntryInit {
  /** Its instants on this process's clock. */
  readonly head: Head
  /** The one copy that all callers share; beside a `payload`, nothing. */
  readonly value: unknown
  readonly meta: unknown
  /** Encoded; kept only where each caller is given a copy of its own. */
  readonly payload: Uint8Array | undefined
  /** What the payload is read by: that of the call which began the load. */
  readonly codec: CodecPort | undefined
  /** Bytes that it counts for in memory. */
  readonly size: number
  readonly now: number
  /** Count of gaps in hearing when the value's read or load began. */
  readonly trust: number
  /** Count of changes by tag (`Tags.tick`) as of which it is right. */
  readonly tick: number
}

export interface EntryBounds {
  /** How its callers are given the value. */
  readonly values: Values
  /** Oldest age in memory. */
  readonly memoryTtlMs: number
  readonly earlyRefresh: EarlyRefresh | undefined
  readonly seed: number
}

/** Leads to an entry past the memory that holds it; told when that has dropped it. */
export interface Shortcut {
  leave(entry: Entry): void
}

export interface Confirmed {
  readonly freshUntil: number
  readonly now: number
  readonly memoryTtlMs: number
  readonly trust: number
  readonly tick: number
}

export class Entry implements Instants {
  readonly stamp: string
  readonly startedAt: number
  readonly storedAt: number
  freshUntil: number
  refreshAt: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  readonly deltaMs: number
  readonly negative: boolean
  readonly uncacheable: Uncacheable | undefined
  readonly value: unknown
  readonly values: Values
  /** What few entries have, so that the others need no room for it. */
  readonly #rare: Pick<EntryInit, 'meta' | 'payload' | 'codec'> | undefined
  readonly size: number
  readonly tags: readonly Label[]
  tick: number
  /** Kept while the store was gone: the outage (`Hearing.outage`) in which it may be believed. */
  provisional: number | undefined = undefined
  trust: number
  hotUntil: number
  /** When its time in memory ends, where that is bounded. */
  memoryUntil: number | undefined
  /** The place that leads to it while memory holds it. */
  place: Shortcut | undefined = undefined

  constructor(init: EntryInit, bounds: EntryBounds) {
    const { head, now } = init
    this.stamp = head.stamp
    this.startedAt = head.startedAt
    this.storedAt = head.storedAt
    this.freshUntil = head.freshUntil
    // Whole numbers take no memory of their own, and ten thousand entries are kept.
    this.staleWhileRevalidateMs = Math.round(head.staleWhileRevalidateMs)
    this.staleIfErrorMs = Math.round(head.staleIfErrorMs)
    this.deltaMs = Math.ceil(head.deltaMs)
    this.negative = head.negative
    this.uncacheable = head.uncacheable
    this.value = init.value
    this.values = bounds.values
    const { meta, payload, codec } = init
    const isRare = meta !== undefined || payload !== undefined
    this.#rare = isRare ? { meta, payload, codec } : undefined
    this.size = init.size
    this.tags = head.tags
    this.tick = init.tick
    this.trust = init.trust
    this.refreshAt =
      head.negative || bounds.earlyRefresh === undefined
        ? head.freshUntil
        : refreshAt(head, bounds.earlyRefresh, exponentialDraw(bounds.seed, head.stamp))
    this.memoryUntil = until(now, bounds.memoryTtlMs)
    this.hotUntil = 0
    this.#reckonHot()
  }

  get meta(): unknown {
    return this.#rare?.meta
  }

  get payload(): Uint8Array | undefined {
    return this.#rare?.payload
  }

  get codec(): CodecPort | undefined {
    return this.#rare?.codec
  }

  /** Fresh, and no refresh is due. */
  isHot(now: number): boolean {
    return now < this.refreshAt && now < this.freshUntil && this.uncacheable === undefined
  }

  /** Stale as of `at`; both windows run from there. */
  expire(at: number): void {
    this.freshUntil = Math.min(this.freshUntil, at)
    this.refreshAt = Math.min(this.refreshAt, at)
    this.#reckonHot()
  }

  /** The store could not be told of it: believed in this outage only, and briefly. */
  makeProvisional(outage: number, freshUntil: number): void {
    this.provisional = outage
    this.expire(freshUntil)
  }

  /** The store says that it is still the current one, and how long. */
  confirm(said: Confirmed): void {
    this.trust = said.trust
    this.tick = said.tick
    this.provisional = undefined
    this.memoryUntil = until(said.now, said.memoryTtlMs)
    this.refreshAt = Math.min(said.freshUntil, this.refreshAt + (said.freshUntil - this.freshUntil))
    this.freshUntil = said.freshUntil
    this.#reckonHot()
  }

  #reckonHot(): void {
    // A mark is no value, and a payload is still to be decoded for each caller.
    const { uncacheable, payload, provisional } = this
    const shared = uncacheable === undefined && payload === undefined && provisional === undefined
    const until = Math.min(this.refreshAt, this.freshUntil, this.memoryUntil ?? Infinity)
    this.hotUntil = shared ? until : -Infinity
  }
}

function until(now: number, ms: number): number | undefined {
  return ms === Infinity ? undefined : now + ms
}

/** As users see them: whole milliseconds. */
export function instants(entry: Entry): { storedAt: number; freshUntil: number } {
  return { storedAt: Math.round(entry.storedAt), freshUntil: Math.round(entry.freshUntil) }
}

/** Still of any use: to serve, to cover an error, or as `previous`? */
export function isAlive(entry: Omit<Instants, 'refreshAt'>, now: number): boolean {
  const window = Math.max(entry.staleWhileRevalidateMs, entry.staleIfErrorMs)
  return now < entry.freshUntil + window
}

/**
 * A frame's head, from now on by this process's clock: in place, since it is its reader's own. One
 * from the future (clocks were corrected, or a host's is wrong) is taken to have been stored now, so
 * that no entry lives longer than its ttl and window.
 */
export function makeLocal(head: Writable<Head>, offsetMs: number, now: number): Head {
  const ahead = Math.max(0, head.storedAt - offsetMs - now)
  const shift = offsetMs + ahead
  head.startedAt -= shift
  head.storedAt -= shift
  head.freshUntil -= shift
  return head
}

type Writable<T> = { -readonly [Name in keyof T]: T[Name] }

/** The same for the store: its own time, and nothing of ours. */
export function storeHead(head: Head, offsetMs: number): Head {
  return {
    ...head,
    startedAt: head.startedAt + offsetMs,
    storedAt: head.storedAt + offsetMs,
    freshUntil: head.freshUntil + offsetMs,
  }
}
