// What the coordinator of a herd and its workers say to each other. Workers share the host's clock.

export interface WorkerSettings {
  readonly contender: string
  readonly url: string
  readonly ttlMs: number
  readonly staleMs: number
  readonly loadMs: number
}

export type Order =
  | { readonly kind: 'start'; readonly settings: WorkerSettings }
  /** One read, as any page view before the herd. */
  | { readonly kind: 'read'; readonly key: string }
  /** `callers` reads of one key in one tick, at `at` (ms since 1970). */
  | { readonly kind: 'herd'; readonly key: string; readonly callers: number; readonly at: number }
  | { readonly kind: 'stop' }

export type Reply =
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** One latency per caller that was answered. */
  | {
      readonly kind: 'herd'
      readonly latencies: readonly number[]
      readonly errors: readonly string[]
    }

/** Where a load is counted. */
export function loadsKey(key: string): string {
  return `bench-loads:${key}`
}
