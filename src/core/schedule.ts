/**
 * When what is made ahead is made anew. Time falls into periods, by the store's clock, which all
 * processes share; one refresh of a key belongs to each. Keys do not all begin theirs together: each
 * is shifted by a share of its own, the same in every process.
 */
import { hashOf } from './hash.ts'

export interface Period {
  readonly begin: number
  /** When the next one begins; `Infinity`: there is none. */
  readonly end: number
}

export interface Schedule {
  /** The one that holds this instant. */
  periodAt(now: number): Period
  /** The shortest period. */
  readonly periodMs: number
  /** The longest time from a refresh to the next but one: so long an entry must live to outlast one that is missed. */
  readonly twoPeriodsMs: number
  /** Over how long the keys of one definition are spread. */
  readonly spreadMs: number
  /** What was made (by a miss, say) less than this before a period begins is not made again then. */
  readonly leastGapMs: number
  /** In the user's words. */
  readonly text: string
}

/** Periods of one length, counted from 1970. */
export function everySchedule(everyMs: number): Schedule {
  return {
    periodAt: (now) => {
      const begin = Math.floor(now / everyMs) * everyMs
      return { begin, end: begin + everyMs }
    },
    periodMs: everyMs,
    twoPeriodsMs: 2 * everyMs,
    spreadMs: everyMs,
    leastGapMs: everyMs / 2,
    text: `every ${everyMs} ms`,
  }
}

/** A key's share of the spread, 0 ≤ share < 1: the same wherever it is asked for. */
export function shareOf(key: string): number {
  return (hashOf(key) >>> 0) / 0x1_0000_0000
}

/** A turn at this instant or before is done with by this load. */
export function countsUntil(
  load: { readonly startedAt: number; readonly storedAt: number },
  leastGapMs: number,
): number {
  // A period that began while it was being loaded has been missed.
  return Math.max(load.startedAt + leastGapMs, load.storedAt)
}

/** When a value is due to be made anew, whose load began and ended then. */
export function dueAfter(
  schedule: Schedule,
  share: number,
  load: { readonly startedAt: number; readonly storedAt: number },
  leastGapMs = schedule.leastGapMs,
): number {
  const shift = share * schedule.spreadMs
  return schedule.periodAt(countsUntil(load, leastGapMs) - shift).end + shift
}
