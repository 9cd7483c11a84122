/**
 * What one process knows of one key that is made ahead. All instants are the store's: every process
 * reckons the same periods, and no host's clock decides.
 */
import type { AheadDefinition, Found } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import type { Label } from '../core/labels.ts'
import { shareOf, type Schedule } from '../core/schedule.ts'
import type { Item } from './agenda.ts'
import type { Fill } from './fills.ts'
import type { Job } from './crew.ts'

export interface Upkeep extends Job {
  readonly target: Target
  /** Of the spread over a period. */
  readonly share: number
  /** Not by schedule alone: it is missing, or may be. What was found by whoever asks, or `look`. */
  asked: Found | 'look' | undefined
  /** When it is to be made anew; in the past: it is overdue. */
  dueAt: number
  /** Stamp of the value that was made here where there had been none. */
  first: string | undefined
  /** When the value that there is ends, as far as is known. */
  expiresAt: number | undefined
  /** This process has made it. */
  isOwn: boolean
  /** In a row. */
  failures: number
  error: unknown
  /** Nobody tries before. */
  retryAt: number
  /** That it is reached by, as far as is known. */
  tags: readonly Label[]
  /** Changes of the key that were heard of: a load of before fills nothing. */
  changes: number
  /** The refresh that counts, and how many others, which a change has overtaken, are still at work. */
  runs: number
  overtaken: number
  /** Until when there was a reason not to make it, which others tell of. */
  excusedUntil: number
  /** What has been told of it, until it is resolved. */
  readonly alerted: Set<'failed' | 'late' | 'expiring'>
  /** In the agenda, with the crew, or at work. */
  place: Item | 'crew' | 'work' | undefined
  /** It was found to be overdue, and has been given another time once. */
  isSpread: boolean
  /** Made without the store: as long as that is gone, not again before, whoever asks. */
  aloneUntil: number
  /** The store is gone: its time is when this process has to make it for itself. */
  isStranded: boolean
}

export function newUpkeep(
  target: Target,
  now: number,
  refresh: (key: Upkeep) => Promise<void>,
): Upkeep {
  const key: Upkeep = {
    target,
    share: shareOf(target.key),
    asked: undefined,
    get isAsked() {
      return key.asked !== undefined
    },
    dueAt: now,
    first: undefined,
    expiresAt: undefined,
    isOwn: false,
    failures: 0,
    error: undefined,
    retryAt: -Infinity,
    tags: [],
    changes: 0,
    runs: 0,
    overtaken: 0,
    excusedUntil: -Infinity,
    alerted: new Set(),
    place: undefined,
    isSpread: false,
    aloneUntil: -Infinity,
    isStranded: false,
    run: () => refresh(key),
  }
  return key
}

/**
 * The clock that its instants are of was corrected. Set back, they would lie far ahead, and it would
 * not be made until that clock has come there; set forward, it is overdue, and that is no one's fault.
 */
export function correct(
  key: Upkeep,
  byMs: number,
  { now, periodMs }: { readonly now: number; readonly periodMs: number },
): void {
  const excusedUntil = byMs > 0 ? now + periodMs / 4 : -Infinity
  key.excusedUntil = Math.max(key.excusedUntil + Math.min(byMs, 0), excusedUntil)
  if (byMs > 0) return
  key.dueAt += byMs
  key.retryAt += byMs
  key.aloneUntil += byMs
  if (key.expiresAt !== undefined) key.expiresAt += byMs
}

/**
 * How long after it is due this process comes to it. Who has made it last comes first, and the others
 * a little later: most of the time they hear that it is done before their turn, and ask nobody.
 */
export function delayMs({ periodMs }: Schedule, key: Upkeep, random: number): number {
  if (key.isOwn) return random * Math.min(periodMs / 50, 100)
  return Math.min(periodMs / 10, 5_000) + random * Math.min(periodMs / 4, 30_000)
}

/**
 * How long after a failure it is tried again: longer each time, and so that as many as raise an alert
 * fit in before the entry ends.
 */
export function retryMs(
  { periodMs }: Schedule,
  key: Upkeep,
  how: { readonly now: number; readonly errorBackoffMs: number; readonly failures: number },
): number {
  const usual = Math.max(how.errorBackoffMs, periodMs / 20) * 2 ** Math.min(key.failures, 20)
  const leftMs = (key.expiresAt ?? Infinity) - how.now
  const tries = how.failures - key.failures
  const urgent = tries > 0 && leftMs > 0 ? leftMs / (tries + 1) : Infinity
  return Math.ceil(Math.max(50, Math.min(usual, periodMs / 4, urgent)))
}

/** Those of them that one of these labels reaches, as far as their tags are known. */
export function* reachedBy(
  labels: readonly Label[],
  { source }: AheadDefinition,
  keys: Iterable<Upkeep>,
): Iterable<Upkeep> {
  const changed = new Set(labels)
  const isAll = source.labels.some((label) => changed.has(label))
  for (const key of keys) if (isAll || key.tags.some((tag) => changed.has(tag))) yield key
}

/** A value was filled that lets it be due then. `undefined`: what is known already is newer; true: it is news. */
export function takeFill(key: Upkeep, dueAt: number, fill: Fill): boolean | undefined {
  if (dueAt < key.dueAt) return undefined
  const isNew = dueAt > key.dueAt
  key.dueAt = dueAt
  key.expiresAt = fill.expiresAt
  return isNew
}
