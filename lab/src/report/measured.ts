// What a model of this run needs to be fed with, and held against: when each query began and how long
// it ran, when the write came, how old the value was at the start, and how long an answer takes that
// no query stands behind (HTTP, Redis, the event loop). `breakwater simulate --lab FILE` reads it.

import type { ContenderId } from '../contenders/contender.ts'
import type { ContenderRun } from '../run/contender-run.ts'

export interface Measured {
  readonly contender: ContenderId
  /** Instants count from the start of the load; negative: before. */
  readonly cachedAtMs: number | undefined
  /** A query from before was still running until then. */
  readonly loadingUntilMs: number | undefined
  readonly writeBeganMs: number
  /** Not there: the write was never acknowledged. */
  readonly writeEndedMs: number | undefined
  /** Nothing was waited for any longer: what still ran then was ended. */
  readonly lastAnswerMs: number
  /** [when it began, how long it ran], the latter up to the last answer. */
  readonly queries: readonly (readonly [number, number])[]
  /** Evenly spaced quantiles of answers while no query ran: the time of a hit. */
  readonly hitMs: readonly number[]
}

const hitQuantiles = 100

export function measuredOf(run: ContenderRun): Measured {
  const { contender, startedAt, cachedAt, loadingUntil, write, queries, answers } = run
  const lastAt = Math.max(startedAt, ...answers.map(({ intendedAt, ms }) => intendedAt + ms))
  const since = (at: number): number => tenths(at - startedAt)
  const hits = answers
    .filter(({ endpoint, error, intendedAt, ms }) => {
      const untouched = queries.every(
        ({ beganAt, endedAt }) => beganAt > intendedAt + ms || (endedAt ?? Infinity) < intendedAt,
      )
      return endpoint === 'hot' && error === undefined && untouched
    })
    .map(({ ms }) => ms)
    .sort((a, b) => a - b)
  return {
    contender,
    cachedAtMs: cachedAt === undefined ? undefined : since(cachedAt),
    loadingUntilMs: loadingUntil === undefined ? undefined : since(loadingUntil),
    writeBeganMs: since(write.beganAt),
    writeEndedMs: write.endedAt === Infinity ? undefined : since(write.endedAt),
    lastAnswerMs: since(lastAt),
    queries: queries.map(({ beganAt, endedAt }) => [
      since(beganAt),
      tenths(Math.max(0, Math.min(endedAt ?? lastAt, lastAt) - beganAt)),
    ]),
    hitMs: evenly(hits, hitQuantiles).map((ms) => Math.round(ms * 100) / 100),
  }
}

function tenths(ms: number): number {
  return Math.round(ms * 10) / 10
}

function evenly(sorted: readonly number[], most: number): number[] {
  if (sorted.length <= most) return [...sorted]
  return Array.from(
    { length: most },
    (_, n) => sorted[Math.floor(((n + 0.5) * sorted.length) / most)]!,
  )
}
