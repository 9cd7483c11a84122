// What the coordinator and its processes say to each other, and what a process is told at its start.

export type Client = 'ioredis' | 'node-redis'

export interface WorkerPlan {
  readonly client: Client
  /** Of the Redis under test, through the proxy. */
  readonly port: number
  /** Of the source of truth, which never fails. */
  readonly sourcePort: number
  /** Which keys it alone writes: a process that replaces another has the same. */
  readonly place: number
  readonly places: number
  readonly seed: number
}

export type Order =
  /** Requests by schedule, until `rest`. */
  | { readonly kind: 'load'; readonly perSecond: number }
  /** No more requests; answers when the last one has ended, and nothing is under way any more. */
  | { readonly kind: 'rest' }
  /** One read of a key of its own, whose load takes `ms` and is told of when it begins. */
  | { readonly kind: 'read'; readonly key: string; readonly ms: number }
  /** What it would answer now to each key that it has promises about. */
  | { readonly kind: 'keepPromises' }
  | { readonly kind: 'figures' }
  | { readonly kind: 'resources' }
  | { readonly kind: 'status' }
  | { readonly kind: 'close' }

export interface Figures {
  readonly requests: number
  readonly outcomes: Readonly<Record<string, number>>
  /** Of explicit writes that Redis did not take, of loaders that fail, of callers who left. */
  readonly expected: Readonly<Record<string, number>>
  /** Anything else. */
  readonly errors: readonly string[]
  readonly staleReads: readonly string[]
  /** Loads, as the loaders counted themselves. */
  readonly runs: number
  /** Of the cache's own counters: what loads may have begun with. */
  readonly leases: number
  readonly unleased: number
  /** The same of the keys of `read` alone. */
  readonly unleasedReads: number
  readonly mostLoads: number
  readonly longestMs: number
  /** How late the process itself came to a request, at most: no wait of the cache's. */
  readonly latestMs: number
}

export interface Resources {
  readonly heapUsed: number
  /** By kind, of what keeps the process alive. */
  readonly active: Readonly<Record<string, number>>
  /** By emitter and event. */
  readonly listeners: Readonly<Record<string, number>>
}

export interface ReadAnswer {
  readonly value?: number
  readonly error?: string
  readonly ms: number
}

export type Answer =
  | { readonly kind: 'done'; readonly id: number; readonly result: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly reason: string }

/** Beside answers. */
export type News = { readonly kind: 'ready' } | { readonly kind: 'loading'; readonly key: string }

export type Sent = Order & { readonly id: number }

export const namespace = 'soak'
/** As short as it may be beside a loader of some milliseconds: what outlives it must be seen here. */
export const leaseMs = 1_000
/** The longest that anything of ours may stay in Redis: the life of a frame. */
export const longestLifeMs = 7_000
export const placesAtSource = 32
