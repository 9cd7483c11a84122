/**
 * Whose load and whose value a caller may use: one that began before it asked for something younger,
 * or before a change that it must not see the back of, is not for it.
 */
import { BreakwaterError } from '../core/errors.ts'
import type { Engine, Flying, Target } from './engine.ts'
import type { Entry } from './entry.ts'
import { isAbort } from './failure.ts'
import { forbidsLoad, modeOf } from './modes.ts'
import type { ResolvedCall } from './options.ts'
import type { Wanted } from './wanted.ts'

/** The flight that this caller can wait for, if there is one. */
export function joinable(engine: Engine, target: Target, wanted: Wanted): Flying | undefined {
  const flight = engine.flights.current(target.key)
  if (flight === undefined || flight.doomed) return undefined
  if (flight.work.target.source.isAround !== target.source.isAround) return undefined
  if (flight.startedAt === undefined) {
    // It will not begin: nothing comes of waiting for its place.
    const isRefused = flight.phase === 'queue' && forbidsLoad(modeOf(engine, target.source), false)
    return isRefused ? undefined : flight
  }
  if (flight.startedAt < wanted.since) return undefined
  // Its load began before a gap in hearing: an invalidation may have been missed. Without the store
  // there is none that could have been heard, and the source is to be spared.
  const { store, hearing } = engine
  if (store?.isUp(target.key) !== true || !target.source.rules.store) return flight
  const heard = flight.trust === hearing.trust && !hearing.isDeaf(engine.clock.now())
  return heard ? flight : undefined
}

/** A tag of it changed after it was loaded or read, or its source settled, before this caller asked. */
export function isOutdatedFor(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  entry: Entry,
): boolean {
  const { key, source } = target
  const { offsetMs } = engine.hearing
  const startedAt = entry.startedAt + offsetMs
  const until = engine.tags.settles(startedAt, source.labels, entry.tags, key)
  if (wanted.askedAt + offsetMs >= until) return true
  if (wanted.tick <= entry.tick) return false
  const { gone, expiredAt } = engine.tags.changedSince(entry.tick, source.labels, entry.tags)
  return gone || expiredAt < Infinity
}

/** Errors that no older value covers: the caller left, would wait for itself, or the cache ended. */
export function isOwnDoing(error: unknown, key: string, call: ResolvedCall | undefined): boolean {
  if (isAbort(call, error)) return true
  if (!(error instanceof BreakwaterError) || error.key !== key) return false
  return error.code === 'CYCLE' || error.code === 'CLOSED'
}
