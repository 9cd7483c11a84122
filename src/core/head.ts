/**
 * What is known of a value beside the value: the head of its frame. Instants are the store's time
 * (ms since 1970); the process that uses them converts once, when it takes a frame in.
 */
export interface Head {
  /** Token of the fill that made this frame. */
  readonly stamp: string
  /** When the load that made the value began: what `maxAge` is compared with. */
  readonly startedAt: number
  /** When that load ended: what ttl is counted from. */
  readonly storedAt: number
  readonly freshUntil: number
  /** Both windows are counted from `freshUntil` (RFC 5861). */
  readonly staleWhileRevalidateMs: number
  readonly staleIfErrorMs: number
  /** Δ of XFetch: smoothed run time of the loader alone. */
  readonly deltaMs: number
  /** Highest tag epoch that was known when the load began. */
  readonly asOf: number
  readonly negative: boolean
  /** A mark instead of a value: callers load side by side while it lives (hit-for-miss). */
  readonly uncacheable: Uncacheable | undefined
  readonly tags: readonly string[]
  /** Encoded by the entry's codec. */
  readonly meta: Uint8Array | undefined
}

export type Uncacheable = 'noStore' | 'private' | 'unstorable'
