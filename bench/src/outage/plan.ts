// What is done to Redis, what is asked meanwhile, and what the coordinator and its processes say to
// each other. Instants are those of `now()` in ../fleet/messages.ts: one clock for all processes.

export type Situation = 'warm' | 'no memory' | 'cold'
export type Fault = 'frozen' | 'killed' | 'refused' | 'black-holed' | 'started late'
export type OutageClient = 'ioredis6' | 'redis5'

export const situations: readonly Situation[] = ['warm', 'no memory', 'cold']
export const faults: readonly Fault[] = [
  'frozen',
  'killed',
  'refused',
  'black-holed',
  'started late',
]
export const clients: readonly OutageClient[] = ['ioredis6', 'redis5']

export const processes = 4
/** How long a load takes, how many may run at once in a process, and the cache's own defaults. */
export const loadMs = 5
export const placesAtSource = 20
export const storeTimeoutMs = 100
export const connectTimeoutMs = 2_000
/** Keys that all processes share; `cold` has new ones all the time. */
export const keysOf: Readonly<Record<Situation, number>> = {
  warm: 500,
  'no memory': 2_000,
  cold: 0,
}

export interface WorkerPlan {
  readonly client: OutageClient
  readonly port: number
  readonly situation: Situation
  readonly process: number
  readonly perSecond: number
}

export type ToWorker =
  /** Each process reads its share of the keys, or all of them. */
  { readonly kind: 'warm' } | { readonly kind: 'go'; readonly at: number; readonly until: number }

/** Of one request: when it was due, how late it was begun, how long it took from then on, who answered. */
export type Asked = readonly [
  due: number,
  lateMs: number,
  tookMs: number,
  answer: Answer,
  key: string,
]

export type Answer = 'memory' | 'store' | 'loaded' | 'waited' | 'failed'

export interface Told {
  readonly asked: readonly Asked[]
  readonly errors: readonly string[]
  readonly mostLoads: number
  /** `health().status`, whenever it changed. */
  readonly health: readonly (readonly [at: number, status: string])[]
}

export type FromWorker =
  | { readonly kind: 'ready' }
  | { readonly kind: 'told'; readonly told: Told }
  | { readonly kind: 'failed'; readonly reason: string }
