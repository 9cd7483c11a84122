/** What loads add to the counters, and the event that tells of one. */
import type { Counters, LoadReason, Unleased } from '../core/events.ts'
import type { Engine, Work } from './engine.ts'

const byReason = {
  miss: 'loadsMiss',
  stale: 'loadsStale',
  early: 'loadsEarly',
  forced: 'loadsForced',
  scheduled: 'loadsScheduled',
} as const satisfies Record<LoadReason, keyof Counters>

const byUnleased = {
  waited: 'unleasedWaited',
  store: 'unleasedStore',
  nolease: 'unleasedNolease',
  uncacheable: 'unleasedUncacheable',
  private: 'unleasedPrivate',
  local: 'unleasedLocal',
} as const satisfies Record<Unleased, keyof Counters>

/** A load that ended well. */
export function countLoad(
  engine: Engine,
  work: Work,
  ran: { readonly ms: number; readonly unleased: Unleased | undefined },
): void {
  const { target, reason } = work
  const { key, source } = target
  const { counters, name } = source
  counters.loads++
  counters[byReason[reason]]++
  engine.listeners.tell('load', () => ({ name, key, ...ran, reason }))
}

/** A load that begins without a lease; those with one are counted by their leases. */
export function countUnleased(counters: Counters, unleased: Unleased | undefined): void {
  if (unleased !== undefined) counters[byUnleased[unleased]]++
}

/** Held the event loop for this long, with this much: told, with whose value it was. */
const slowMs = 10
const slowBytes = 64 * 1024

export function slowCodec(
  engine: Engine,
  { name, key }: { readonly name: string; readonly key: string },
  operation: 'encode' | 'decode',
  done: { readonly bytes: number; readonly since: number },
): void {
  const { bytes, since } = done
  if (bytes < slowBytes) return
  const ms = engine.clock.now() - since
  if (ms >= slowMs) engine.listeners.tell('slowCodec', () => ({ name, key, operation, bytes, ms }))
}
