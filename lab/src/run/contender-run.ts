// The records of one contender's run, from which figures and charts are made.

import type { ContenderId } from '../contenders/contender.ts'
import type { Answer } from '../load/messages.ts'
import type { PoolSample, QueryRun } from './fleet-record.ts'

export interface ContenderRun {
  readonly contender: ContenderId
  readonly startedAt: number
  /** When the value was in the cache before the load began. */
  readonly cachedAt: number | undefined
  /** A query that the schedule had begun before ended then. */
  readonly loadingUntil: number | undefined
  readonly durationMs: number
  readonly timeoutMs: number
  readonly answers: readonly Answer[]
  readonly queries: readonly QueryRun[]
  readonly pool: readonly PoolSample[]
  /** When the write began and when its invalidation was acknowledged; Infinity: never. */
  readonly write: { readonly beganAt: number; readonly endedAt: number; readonly revision: number }
}
