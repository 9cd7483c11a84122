// What the generator is told, and what it hands back: every single request, so that the figures are
// made in one place, with the percentiles of the whole and of every moment from the same list.

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
  readonly durationMs: number
  readonly timeoutMs: number
}

/** `ms` counts from the intended arrival. */
export interface Answer {
  readonly endpoint: Endpoint
  readonly port: number
  readonly intendedAt: number
  readonly ms: number
  readonly revision?: number | undefined
  readonly error?: 'timeout' | 'connection' | 'status' | undefined
}

export type LoadReport =
  | {
      readonly kind: 'progress'
      readonly sent: number
      readonly done: number
      readonly errors: number
    }
  | { readonly kind: 'finished'; readonly answers: readonly Answer[] }
