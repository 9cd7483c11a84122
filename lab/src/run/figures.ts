// From the records of a run to its figures. An expiry is counted the same way for everybody: a time
// at which the value was being queried for, from the first query that found none running to the
// last of those that overlap it; a write in its midst begins another, since what was being queried
// for is wrong from then on. A perfect cache runs one query in each.

import * as hdr from 'hdr-histogram-js'
import type { Answer, Endpoint } from '../load/messages.ts'
import type { QueryRun } from './fleet-record.ts'
import type { ContenderRun } from './contender-run.ts'

export interface Latency {
  readonly requests: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
}

export interface Figures {
  readonly contender: string
  readonly queries: number
  readonly expiries: number
  readonly queriesPerExpiry: number
  readonly mostAtOnce: number
  readonly mostWaiting: number
  readonly hot: Latency
  readonly unrelated: Latency
  /** Answers with the value from before the write, to callers who came after it was acknowledged. */
  readonly outdated: number
  readonly errors: number
  readonly errorKinds: Readonly<Record<string, number>>
}

export function figuresOf(run: ContenderRun): Figures {
  const { episodes, mostAtOnce } = overlaps(run.queries)
  const expiries = episodes + (overtaken(run) ? 1 : 0)
  const failed = run.answers.filter(({ error }) => error !== undefined)
  const kinds: Record<string, number> = {}
  for (const { error } of failed) kinds[error ?? ''] = (kinds[error ?? ''] ?? 0) + 1
  return {
    contender: run.contender,
    queries: run.queries.length,
    expiries,
    queriesPerExpiry: expiries === 0 ? 0 : run.queries.length / expiries,
    mostAtOnce,
    mostWaiting: Math.max(0, ...waitingOverTime(run, 100).map(({ value }) => value)),
    hot: latency(run.answers, 'hot'),
    unrelated: latency(run.answers, 'unrelated'),
    outdated: run.answers.filter((answer) => isOutdated(answer, run.write)).length,
    errors: failed.length,
    errorKinds: kinds,
  }
}

/** Requests that were given up count with the time until then, not as if they had not been. */
export function latency(answers: readonly Answer[], endpoint: Endpoint): Latency {
  const histogram = hdr.build({
    highestTrackableValue: 600_000_000,
    numberOfSignificantValueDigits: 3,
  })
  const own = answers.filter((answer) => answer.endpoint === endpoint)
  for (const { ms } of own) histogram.recordValue(Math.max(1, Math.round(ms * 1000)))
  const at = (percentile: number): number => histogram.getValueAtPercentile(percentile) / 1000
  return { requests: own.length, p50: at(50), p95: at(95), p99: at(99), max: at(100) }
}

export function overlaps(queries: readonly QueryRun[]): { episodes: number; mostAtOnce: number } {
  const edges = queries
    .flatMap(({ beganAt, endedAt }) => [
      { at: beganAt, step: 1 },
      { at: endedAt ?? Number.POSITIVE_INFINITY, step: -1 },
    ])
    .sort((a, b) => a.at - b.at || a.step - b.step)
  let running = 0
  let episodes = 0
  let mostAtOnce = 0
  for (const { step } of edges) {
    if (step === 1 && running === 0) episodes++
    running += step
    mostAtOnce = Math.max(mostAtOnce, running)
  }
  return { episodes, mostAtOnce }
}

/** An invalidation needs a moment to reach the other processes; from then on it must hold. */
export const heardWithinMs = 100

function isOutdated({ revision, intendedAt }: Answer, write: ContenderRun['write']): boolean {
  return (
    revision !== undefined &&
    revision < write.revision &&
    intendedAt > write.endedAt + heardWithinMs
  )
}

/** Did the write come while a query ran, so that another had to run beside it? */
export function overtaken({ queries, write }: ContenderRun): boolean {
  return queries.some(
    (later) =>
      later.beganAt > write.beganAt &&
      queries.some(
        ({ beganAt, endedAt }) =>
          beganAt < Math.min(later.beganAt, write.endedAt) && (endedAt ?? Infinity) > later.beganAt,
      ),
  )
}

export interface Point {
  /** Milliseconds since the run began. */
  readonly at: number
  readonly value: number
}

type Span = Pick<ContenderRun, 'startedAt' | 'durationMs'>

/** The most that ran at any instant of each bucket, so that no peak falls between two samples. */
export function runningOverTime(
  run: Span & Pick<ContenderRun, 'queries'>,
  bucketMs: number,
): Point[] {
  return buckets(run, bucketMs).map((at) => {
    const from = run.startedAt + at
    const inside = run.queries.filter(
      ({ beganAt, endedAt }) => beganAt < from + bucketMs && (endedAt ?? Infinity) > from,
    )
    const clipped = inside.map((query) => ({ ...query, beganAt: Math.max(query.beganAt, from) }))
    return { at, value: overlaps(clipped).mostAtOnce }
  })
}

export function waitingOverTime(run: Span & Pick<ContenderRun, 'pool'>, bucketMs: number): Point[] {
  return buckets(run, bucketMs).map((at) => {
    const from = run.startedAt + at
    const worst = new Map<number, number>()
    for (const sample of run.pool) {
      if (sample.at < from || sample.at >= from + bucketMs) continue
      worst.set(sample.pid, Math.max(worst.get(sample.pid) ?? 0, sample.waiting))
    }
    return { at, value: [...worst.values()].reduce((sum, waiting) => sum + waiting, 0) }
  })
}

export function p95OverTime(run: ContenderRun, endpoint: Endpoint, bucketMs: number): Point[] {
  return buckets(run, bucketMs).flatMap((at) => {
    const from = run.startedAt + at
    const inside = run.answers.filter(
      ({ intendedAt }) => intendedAt >= from && intendedAt < from + bucketMs,
    )
    const { requests, p95 } = latency(inside, endpoint)
    return requests === 0 ? [] : [{ at, value: p95 }]
  })
}

function buckets(run: Span, bucketMs: number): number[] {
  return Array.from({ length: Math.ceil(run.durationMs / bucketMs) }, (_, n) => n * bucketMs)
}
