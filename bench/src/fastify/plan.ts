// What a server is asked to be, and what it says when it is.

export interface ServerPlan {
  /** `constant`: the handler alone. `cached`: the same with the cache before it. */
  readonly kind: 'constant' | 'cached'
}

export interface Listening {
  readonly kind: 'listening'
  readonly port: number
}

/** Ends each body, and is nowhere else in an answer: responses are counted by it. */
export const end = '~'
