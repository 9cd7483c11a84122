// Whether the run showed what breakwater promises: exactly one query whenever the value is wanted,
// never two at once, no error, quiet neighbours; recipes that melt; faults that end as expected.

import type { ContenderId } from '../contenders/contender.ts'
import type { FaultRow } from '../faults/fault-row.ts'
import type { Disturbance } from '../live/disturbance.ts'
import type { Plan } from '../plan.ts'
import { figuresOf, overtaken } from '../run/figures.ts'
import type { ContenderRun } from '../run/contender-run.ts'
import { inSeconds, plural, ratio } from './wording.ts'

export interface Verdict {
  readonly ok: boolean
  readonly failures: readonly string[]
}

const melting = 4 // queries per expiry from which on we call it a stampede

export function judge(options: {
  plan: Plan
  runs: readonly ContenderRun[]
  faults: readonly FaultRow[]
  disturbances: readonly Disturbance[]
  shared: boolean
  queryMs: number
}): Verdict {
  const { plan, runs, faults, disturbances, shared, queryMs } = options
  if (disturbances.length > 0) return { ok: false, failures: [cannotJudge(disturbances)] }
  const failures = [
    ...runs.flatMap((run) => {
      switch (run.contender) {
        case 'plain':
        case 'lock-retry':
          return judgeRecipe(run)
        case 'lock-poll':
          return []
        case 'breakwater':
        case 'breakwater-swr':
        case 'breakwater-ahead':
          return judgeBreakwater({ plan, run, shared, queryMs })
      }
    }),
    ...judgeNeighbours(runs),
    ...faults
      .filter(({ outcome }) => outcome === 'not as expected')
      .map(({ name, expected, happened }) => `${name}: expected ${expected}, got ${happened}`),
  ]
  return { ok: failures.length === 0, failures }
}

function cannotJudge(disturbances: readonly Disturbance[]): string {
  const presses = disturbances.map(({ action, during }) => `${action} during ${during}`)
  return (
    `cannot judge: expected a run that nobody disturbed, got ${presses.join(', ')} by the buttons of ` +
    'the live page; run it again, with --no-live if need be'
  )
}

/** It melts, or it keeps what a write had made wrong: which of the two is a matter of the instant. */
function judgeRecipe(run: ContenderRun): string[] {
  const { queriesPerExpiry, mostAtOnce, outdated } = figuresOf(run)
  if ((queriesPerExpiry >= melting && mostAtOnce >= melting) || outdated > 0) return []
  return [
    `${run.contender}: expected a stampede of at least ${melting} queries per expiry, got ` +
      `${ratio(queriesPerExpiry)} and ${mostAtOnce} at once: the load was too light to show anything`,
  ]
}

function judgeBreakwater(options: {
  plan: Plan
  run: ContenderRun
  shared: boolean
  queryMs: number
}): string[] {
  const { plan, run, shared, queryMs } = options
  const figures = figuresOf(run)
  const { contender } = run
  // Without Redis each process is a cache of its own.
  const each = shared ? 1 : plan.processes
  // A query that the write overtook goes on beside the one that replaces it.
  const most = overtaken(run) ? each * 2 : each
  const isAhead = contender === 'breakwater-ahead'
  // One in each period that the run touches. Elsewhere jitter takes a tenth of the ttl at most, early
  // refresh a quarter. The write comes on top.
  const lapses = isAhead
    ? 1 + Math.ceil(plan.runMs / plan.ttlMs)
    : Math.ceil(plan.runMs / (plan.ttlMs * 0.9 * 0.75))
  const needed = 1 + lapses
  const failures: string[] = []
  const expect = (ok: boolean, sentence: string): void =>
    void (ok || failures.push(`${contender}: ${sentence}`))
  expect(Number.isFinite(run.write.endedAt), 'expected the write to be acknowledged, it was not')
  expect(figures.errors === 0, `expected no error, got ${figures.errors}`)
  if (shared) expect(figures.outdated === 0, `expected no outdated answer, got ${figures.outdated}`)
  expect(
    figures.mostAtOnce <= most,
    `expected at most ${most} at once at the database, got ${figures.mostAtOnce}`,
  )
  if (shared) {
    expect(
      figures.queries === figures.expiries,
      `expected 1 query per expiry, got ${figures.queries} in ${figures.expiries}`,
    )
  }
  expect(
    figures.queries <= needed * each,
    `expected at most ${needed * each} queries in ${inSeconds(plan.runMs)}, got ${figures.queries}`,
  )
  if (isAhead) {
    const others = run.queries.filter(({ reason }) => reason !== 'scheduled')
    expect(
      others.length === 0,
      `expected every query by schedule, got ${plural(others.length, 'other', 'others')}: ` +
        [...new Set(others.map(({ reason }) => reason))].join(', '),
    )
  }
  expect(figures.expiries >= 2, 'expected several expiries, got one: the run is too short')
  const tookMs = typicalMs(run)
  return failures.length > 0 && tookMs > queryMs * 3
    ? [
        ...failures,
        `${contender}: its queries took ${inSeconds(tookMs)}, not ${inSeconds(queryMs)} as at the start: ` +
          'something else used this machine; try again when it is quiet',
      ]
    : failures
}

function typicalMs(run: ContenderRun): number {
  const times = run.queries.map(({ beganAt, endedAt }) => (endedAt ?? Infinity) - beganAt)
  return times.sort((a, b) => a - b)[Math.floor(times.length / 2)] ?? 0
}

/** Users of unrelated pages are the ones who suffer. */
function judgeNeighbours(runs: readonly ContenderRun[]): string[] {
  const p95 = (id: ContenderId): number | undefined => {
    const run = runs.find(({ contender }) => contender === id)
    return run === undefined ? undefined : figuresOf(run).unrelated.p95
  }
  const melted = p95('plain')
  if (melted === undefined) return []
  return (['breakwater', 'breakwater-swr', 'breakwater-ahead'] as const).flatMap((id) => {
    const calm = p95(id)
    return calm === undefined || calm * 3 < melted
      ? []
      : [
          `${id}: expected the unrelated endpoint's p95 far below that without protection ` +
            `(${inSeconds(melted)}), got ${inSeconds(calm)}`,
        ]
  })
}
