// What the coordinator and the process of a pair tell each other.

import type { Contender } from '../contenders/contender.ts'
import type { Effort, Side, Timings } from './interleave.ts'
import type { Shares } from './profile.ts'

export type WorkloadName = 'l1' | 'reads' | 'sets' | 'batches'

export interface PairPlan {
  readonly workload: WorkloadName
  /** Cells of the workload, in its own terms. */
  readonly cells: readonly string[]
  readonly contender: string
  /** What it is measured beside. */
  readonly bases: readonly string[]
  readonly url: string
  readonly effort: Effort
  /** Nothing is timed: only where the contender's time goes, in the first cell. */
  readonly profile: boolean
}

export interface PairResult {
  readonly timings: PairTimings
  readonly shares: Shares
}

/** By cell, then by side. */
export type PairTimings = Readonly<Record<string, Timings>>

/** Makes a side of a contender for one cell. */
export type Workload = (
  contender: Contender,
  cell: string,
  url: string,
) => Promise<Side & { close(): Promise<unknown> }>

/** The reason that is no failure: the contender has no such operation. */
export const hasNone = 'has none'
