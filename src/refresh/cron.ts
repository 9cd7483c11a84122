/**
 * Periods by a cron expression, read by croner, a package that the user installs: time zones, and
 * what becomes of a run that a change to summer time skips or repeats, are its own known rules.
 */
import { createRequire } from 'node:module'
import type * as Croner from 'croner'
import { BreakwaterError, messageOf } from '../core/errors.ts'
import type { Period, Schedule } from '../core/schedule.ts'

const require = createRequire(import.meta.url)

/** Of a tenth of the period, at most this. */
const longestSpreadMs = 60_000
/** So many runs are looked at for the length of periods, from a Monday on. */
const runsLookedAt = 500
const aMonday = new Date('2024-01-01T00:00:00Z')

export function cronSchedule(
  expression: string,
  timezone: string | undefined,
  option: string,
): Schedule {
  const { Cron: Expression } = croner(option)
  const make = (zone: string | undefined): Croner.Cron => {
    try {
      const read = new Expression(expression, {
        paused: true,
        ...(zone === undefined ? {} : { timezone: zone }),
      })
      // Only now does it look for the zone.
      read.nextRun()
      return read
    } catch (error) {
      const text = `${option}: expected a cron expression such as '*/9 * * * *'`
      throw refuse(`${text}, got '${expression}'${inZone(zone)}: ${messageOf(error)}`)
    }
  }
  const cron = make(timezone)
  if (firstRun(cron, new Date()) === undefined) {
    throw refuse(`${option}: '${expression}' never comes again`)
  }
  // Without summer time: what is allowed must not depend on the day it is asked.
  const gaps = gapsOf(make('UTC'))
  if (gaps === undefined) {
    throw refuse(
      `${option}: expected an expression that comes again and again, got '${expression}'`,
    )
  }
  const { shortestMs, twoMs } = gaps
  // Keys are spread: about the beginning of a period some are in it, and others in the one before.
  let present: Period = { begin: Infinity, end: Infinity }
  let other = present
  const holds = ({ begin, end }: Period, now: number): boolean => begin <= now && now < end
  return {
    periodAt: (now) => {
      if (holds(present, now)) return present
      if (!holds(other, now)) {
        other = { begin: lastRun(cron, now), end: firstRun(cron, new Date(now)) ?? Infinity }
      }
      ;[present, other] = [other, present]
      return present
    },
    periodMs: shortestMs,
    twoPeriodsMs: twoMs,
    spreadMs: Math.min(longestSpreadMs, shortestMs / 10),
    // Whoever names an hour means it, whatever was made shortly before.
    leastGapMs: Math.min(60_000, shortestMs / 4),
    text: `cron '${expression}'${inZone(timezone)}`,
  }
}

function croner(option: string): typeof Croner {
  try {
    return require('croner') as typeof Croner
  } catch (error) {
    throw new BreakwaterError(
      'INVALID_OPTION',
      `${option}: needs the package croner, which is not there; install it with npm install croner`,
      { cause: error },
    )
  }
}

/** The first run after this instant. */
function firstRun(cron: Croner.Cron, after: Date): number | undefined {
  return cron.nextRun(after)?.getTime()
}

/** The last one by this instant: what croner gives is before another. */
function lastRun(cron: Croner.Cron, now: number): number {
  return cron.previousRuns(1, new Date(Math.floor(now) + 1))[0]?.getTime() ?? -Infinity
}

/** `undefined`: there are too few runs to speak of periods, as of one date. */
function gapsOf(
  cron: Croner.Cron,
): { readonly shortestMs: number; readonly twoMs: number } | undefined {
  let runs = cron.nextRuns(runsLookedAt, aMonday)
  if (runs.length < 3) runs = cron.nextRuns(runsLookedAt)
  if (runs.length < 3) return undefined
  let shortestMs = Infinity
  let twoMs = 0
  for (let n = 1; n < runs.length; n++) {
    const gap = runs[n]!.getTime() - runs[n - 1]!.getTime()
    shortestMs = Math.min(shortestMs, gap)
    if (n > 1) twoMs = Math.max(twoMs, runs[n]!.getTime() - runs[n - 2]!.getTime())
  }
  return { shortestMs: Math.min(shortestMs, 86_400_000), twoMs }
}

function inZone(zone: string | undefined): string {
  return zone === undefined ? '' : ` in ${zone}`
}

function refuse(sentence: string): BreakwaterError {
  return new BreakwaterError('INVALID_OPTION', sentence)
}
