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
  /** In the user's words. */
  readonly text: string
}

/** Periods of one length, counted from 1970. */
export function everySchedule(everyMs: number, text: string): Schedule {
  return {
    periodAt: (now) => {
      const begin = Math.floor(now / everyMs) * everyMs
      return { begin, end: begin + everyMs }
    },
    periodMs: everyMs,
    twoPeriodsMs: 2 * everyMs,
    spreadMs: everyMs,
    text,
  }
}

/** A key's share of the spread, 0 ≤ share < 1: the same wherever it is asked for. */
export function shareOf(key: string): number {
  return (hashOf(key) >>> 0) / 0x1_0000_0000
}

/** The key's own period. */
export function periodOf(schedule: Schedule, share: number, now: number): Period {
  const shift = share * schedule.spreadMs
  const { begin, end } = schedule.periodAt(now - shift)
  return { begin: begin + shift, end: end + shift }
}
