// What breakwater does with a request that finds this: the table of docs/how-it-works.md, for a key
// that all processes see alike.

import type { Cached } from './machine.ts'
import type { Rules } from './scenario.ts'

/** `idle`: nothing usable and nobody at work; the next request loads, or has it loaded. */
export type Phase = 'fresh' | 'stale' | 'waiting' | 'idle'

export interface State {
  readonly cached: Cached | undefined
  readonly isLoading: boolean
  /** After a failed refresh: no other before. */
  readonly restsUntil: number
}

export function phaseOf(rules: Rules, at: number, { cached, isLoading, restsUntil }: State): Phase {
  if (cached !== undefined && at < cached.freshUntil) return 'fresh'
  const past = cached === undefined ? Infinity : at - cached.freshUntil
  const isResting = at < restsUntil
  if (past < rules.staleWhileRevalidateMs && (isLoading || isResting)) return 'stale'
  if (isResting && past < rules.staleIfErrorMs) return 'stale'
  return isLoading ? 'waiting' : 'idle'
}

/** What may be served although its load has failed. */
export function covering(rules: Rules, at: number, cached: Cached | undefined): Cached | undefined {
  const window = Math.max(rules.staleWhileRevalidateMs, rules.staleIfErrorMs)
  return cached !== undefined && at < cached.freshUntil + window ? cached : undefined
}
