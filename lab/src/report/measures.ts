// What is drawn over time, and a run reduced to that. A finished run is drawn from its records; one
// that is under way has the same shape, so that a page that shows it live ends up as the report.

import type { ContenderId } from '../contenders/contender.ts'
import { p95OverTime, type Point, runningOverTime, waitingOverTime } from '../run/figures.ts'
import type { ContenderRun } from '../run/contender-run.ts'

export interface Measure {
  readonly id: MeasureId
  readonly title: string
  readonly explain: string
  readonly unit: 'count' | 'ms'
}

export type MeasureId = 'running' | 'hot' | 'unrelated' | 'waiting'

export const measures: readonly Measure[] = [
  {
    id: 'running',
    title: 'Trending queries running at the database',
    explain: 'The most at any instant. One is what the work needs.',
    unit: 'count',
  },
  {
    id: 'hot',
    title: 'Hot endpoint, p95',
    explain: 'By the instant at which a request should have left; given up counts as its wait.',
    unit: 'ms',
  },
  {
    id: 'unrelated',
    title: 'Unrelated endpoint, p95',
    explain: 'A product page that is not cached and shares the connections.',
    unit: 'ms',
  },
  {
    id: 'waiting',
    title: 'Callers waiting for a connection',
    explain: 'Over all processes.',
    unit: 'count',
  },
]

export interface Trace {
  readonly contender: ContenderId
  readonly durationMs: number
  /** Writes, and what somebody did by a button. */
  readonly marks: readonly number[]
  readonly points: Readonly<Record<MeasureId, readonly Point[]>>
  /** Of free play: the axis has no beginning, and ends now. */
  readonly until?: 'now' | undefined
}

/** Of a run's length: what one bucket of the fine charts is. */
export const fineBuckets = 80
const coarseBuckets = 16

/** `presses`: when somebody pressed a button, in milliseconds since the run began. */
export function traceOf(run: ContenderRun, presses: readonly number[] = []): Trace {
  const fine = run.durationMs / fineBuckets
  const coarse = run.durationMs / coarseBuckets
  return {
    contender: run.contender,
    durationMs: run.durationMs,
    marks: [run.write.beganAt - run.startedAt, ...presses],
    points: {
      running: runningOverTime(run, fine),
      hot: p95OverTime(run, 'hot', coarse),
      unrelated: p95OverTime(run, 'unrelated', coarse),
      waiting: waitingOverTime(run, fine),
    },
  }
}
