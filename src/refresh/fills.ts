/** A value that there is of a key, by the store's clock: one that this process has, or has heard of. */
import type { Engine } from '../cache/engine.ts'
import type { Entry } from '../cache/entry.ts'
import type { Token } from '../ports.ts'
import type { Upkeep } from './upkeep.ts'

export interface Fill {
  readonly stamp: Token
  readonly startedAt: number
  readonly storedAt: number
  readonly expiresAt: number
}

export function fillOf({ hearing }: Engine, entry: Entry): Fill {
  const { offsetMs } = hearing
  return {
    stamp: entry.stamp,
    startedAt: entry.startedAt + offsetMs,
    storedAt: entry.storedAt + offsetMs,
    expiresAt: entry.freshUntil + offsetMs,
  }
}

/** Somebody has stored it now. How old it is tells memory, where it has it. */
export function heardFill(engine: Engine, key: Upkeep, stamp: Token): Fill {
  const { memory, hearing } = engine
  const held = memory?.get(key.target.key)
  if (held?.stamp === stamp) return fillOf(engine, held)
  const { ttlMs, precompute } = key.target.source.rules
  const now = hearing.storeNow
  // When its load began is not told: when it was due, most likely.
  const dueAt = Math.max(key.dueAt, now - precompute!.schedule.periodMs)
  return { stamp, startedAt: Math.min(now, dueAt), storedAt: now, expiresAt: now + ttlMs }
}
