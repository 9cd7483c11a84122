// What the generator is told, and what it hands back: every single request, so that the figures are
// made in one place, with the percentiles of the whole and of every moment from the same list. What
// it tells on the way is for whoever looks on.

export interface Stream {
  readonly endpoint: Endpoint
  readonly path: string
  readonly perSecond: number
}

export type Endpoint = 'hot' | 'unrelated'

export interface LoadOrder {
  readonly ports: readonly number[]
  readonly streams: readonly Stream[]
  readonly startAt: number
  /** Left out: until it is told to end, and no answer is kept. */
  readonly durationMs?: number | undefined
  readonly timeoutMs: number
}

export type LoadCommand =
  | { readonly kind: 'begin'; readonly order: LoadOrder }
  /** A process that has come instead of one that went. */
  | { readonly kind: 'port'; readonly port: number }
  | { readonly kind: 'end' }

/** `ms` counts from the intended arrival. */
export interface Answer {
  readonly endpoint: Endpoint
  readonly port: number
  readonly intendedAt: number
  readonly ms: number
  readonly revision?: number | undefined
  readonly error?: 'timeout' | 'connection' | 'status' | undefined
}

/** One endpoint as it is now. */
export interface EndpointNow {
  readonly sent: number
  readonly done: number
  readonly errors: number
  /** Of the last second; who still waits counts with the wait so far. */
  readonly p95?: number | undefined
}

export type LoadReport =
  | {
      readonly kind: 'progress'
      readonly at: number
      readonly endpoints: Readonly<Record<Endpoint, EndpointNow>>
    }
  | { readonly kind: 'finished'; readonly answers: readonly Answer[] }
