// Ten processes, twenty keys made every second: what is done to them, and what they are told.

export const scenarios = ['steady', 'one process killed', 'Redis restarted'] as const
export type Scenario = (typeof scenarios)[number]

export const processes = 10
export const periodMs = 1_000
export const keys = Array.from({ length: 20 }, (_, n) => `key-${n}`)
export const loadMs = 50
export const ttlMs = 3_000
/** Of each process. */
export const perSecond = 100
export const downMs = 1_000

export interface Load {
  readonly key: string
  readonly at: number
  readonly reason: string
}

/** What a process tells as it happens: it may be killed at any moment. */
export type Told =
  | { readonly kind: 'ready' }
  | { readonly kind: 'load'; readonly load: Load }
  | { readonly kind: 'answers'; readonly answers: readonly Answer[] }

export interface Answer {
  readonly at: number
  readonly ms: number
  readonly outcome: string
}
