/** What is seen of a cache from outside, as `breakwater/admin` gives it. */
import type { Told } from '../cache/told.ts'
import type { Uncacheable } from '../core/head.ts'

/**
 * `stale`: usable inside `staleWhileRevalidate`; `stale-if-error`: only while loads fail;
 * `invalidated`: by tag, `clear` or a settling source; `uncacheable`: no value, but a mark that says
 * that it is not to be stored.
 */
export type Freshness =
  | 'missing'
  | 'unreadable'
  | 'fresh'
  | 'stale'
  | 'stale-if-error'
  | 'expired'
  | 'invalidated'
  | 'uncacheable'

/** Instants are the store's, ms since 1970. */
export interface EntrySeen {
  readonly key: string
  readonly state: Freshness
  /** Of an entry that is unreadable. */
  readonly why?: string
  /** The store's time of this look. */
  readonly now: number
  /** What is left of its life in the store; `undefined`: nothing is there, or it has no end. */
  readonly leftMs: number | undefined
  readonly lease: LeaseSeen | undefined
  readonly frame: FrameSeen | undefined
}

export interface FrameSeen {
  readonly stamp: string
  /** The process that filled it, as `processes` names it. */
  readonly filledBy: string
  readonly startedAt: number
  readonly storedAt: number
  readonly freshUntil: number
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  /** Smoothed run time of its loader. */
  readonly loadMs: number
  /** Epoch of the tags when its load began. */
  readonly asOf: number
  readonly negative: boolean
  readonly uncacheable: Uncacheable | undefined
  readonly tags: readonly string[]
  /** What has made it invalid, or stale before its time. */
  readonly changedBy: TagChangeSeen | undefined
  readonly meta: unknown
  readonly codec: string
  readonly compression: string | undefined
  readonly encrypted: boolean
  /** Its body lies under a key of its own. */
  readonly apart: boolean
  /** Of the encoded value. */
  readonly bytes: number
  /** In the store, its head included. */
  readonly storedBytes: number
  readonly value: ValueSeen
}

export interface LeaseSeen {
  /** Token of the load; its first 14 characters name the process, as `processes` does. */
  readonly holder: string | undefined
  readonly heldBy: string | undefined
  readonly leftMs: number
  /** Somebody waits elsewhere for this load. */
  readonly awaited: boolean
  /** Of an earlier load. `error`: the JSON text that those who waited were given. */
  readonly failure: { readonly error: string; readonly backoffMs: number } | undefined
}

export type ValueSeen =
  | { readonly type: 'value'; readonly value: unknown }
  | { readonly type: 'none'; readonly why: string }

export interface TagsSeen {
  /** How many changes of tags, definitions and single keys are remembered. */
  readonly count: number
  /** Epoch of the last change; `undefined`: none has ever been made, or all was lost. */
  readonly highest: number | undefined
  /** Whatever its tags, an entry whose load began as of an earlier epoch is invalid. */
  readonly floor: number
  readonly newest: readonly TagChangeSeen[]
  /** What is loaded before `until` (ms since 1970) is used no longer than that. */
  readonly settling: readonly { readonly what: string; readonly until: number }[]
}

export interface TagChangeSeen {
  /** In words: `tag "a"`, `definition "b"`, `all entries`, `key "c"`. */
  readonly what: string
  /** Where it is one. */
  readonly tag: string | undefined
  readonly how: 'invalidated' | 'expired' | 'settling' | 'forgotten'
  readonly epoch: number
  /** Epochs follow the store's clock: ms since 1970, or a little later. */
  readonly at: number
}

/** What one cache in one process tells of itself. */
export type ProcessSeen = Told
