/**
 * What one process knows of one key that is made ahead, and when it is to be looked after next. All
 * instants are the store's: every process reckons the same periods, and nobody's clock decides.
 *
 * Who has made the key last comes first in its next period, and the others a little later: most of
 * the time they hear that it is done before their turn comes, and ask nobody.
 */
import type { Target } from '../cache/engine.ts'
import { periodOf, type Period, type Schedule } from '../core/schedule.ts'
import type { Item } from './agenda.ts'
import type { Job } from './crew.ts'

export interface Upkeep extends Job {
  readonly target: Target
  readonly share: number
  isAsked: boolean
  /** When the newest value that is known of was stored; -Infinity: nothing is known, or it is gone. */
  filledAt: number
  /** When it ends, as far as is known. */
  expiresAt: number | undefined
  /** This process has made it. */
  isOwn: boolean
  /** In a row. */
  failures: number
  error: unknown
  /** Nobody tries before. */
  retryAt: number
  /** Changes of the key that were heard of: a load of before fills nothing. */
  changes: number
  /** Since when a refresh is overdue. */
  dueSince: number | undefined
  /** What has been told of it, until it is resolved. */
  readonly alerted: Set<'failed' | 'late' | 'expiring'>
  /** In the agenda, with the crew, or at work. */
  place: Item | 'crew' | 'work' | undefined
  /** It was found to be overdue, and has been given another time once. */
  isSpread: boolean
}

export function periodNow(schedule: Schedule, { share }: Upkeep, now: number): Period {
  return periodOf(schedule, share, now)
}

/** When its turn comes in this process, in the period that is due. */
export function turnOf(
  schedule: Schedule,
  key: Upkeep,
  how: { readonly now: number; readonly isAlone: boolean; random(): number },
): number {
  const { begin, end } = periodNow(schedule, key, how.now)
  const due = key.filledAt >= begin ? end : begin
  return Math.max(due + delayOf(schedule, key, how), key.retryAt, how.now)
}

function delayOf(
  { periodMs }: Schedule,
  key: Upkeep,
  { isAlone, random }: { readonly isAlone: boolean; random(): number },
): number {
  if (isAlone) return 0
  if (key.isOwn) return random() * Math.min(periodMs / 50, 100)
  return Math.min(periodMs / 10, 5_000) + random() * Math.min(periodMs / 4, 30_000)
}

/**
 * How long after a failure it is tried again: longer each time, and so that as many as are to raise
 * an alert fit in before the entry ends.
 */
export function retryMs(
  { periodMs }: Schedule,
  key: Upkeep,
  how: { readonly now: number; readonly errorBackoffMs: number; readonly failures: number },
): number {
  const usual = Math.max(how.errorBackoffMs, periodMs / 20) * 2 ** Math.min(key.failures, 20)
  const most = periodMs / 4
  const left = (key.expiresAt ?? Infinity) - how.now
  const isUrgent = key.failures < how.failures && left > 0
  const urgent = isUrgent ? left / (how.failures - key.failures + 1) : Infinity
  return Math.ceil(Math.max(50, Math.min(usual, most, urgent)))
}
