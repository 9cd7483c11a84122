/** What loads and stale answers add to the counters, and the events that tell of one. */
import type { Counters, LoadReason, StaleCause, Unleased } from '../core/events.ts'
import type { Engine, Source, Work } from './engine.ts'

const byReason = {
  miss: 'loadsMiss',
  stale: 'loadsStale',
  early: 'loadsEarly',
  forced: 'loadsForced',
  scheduled: 'loadsScheduled',
  verify: 'loadsVerify',
} as const satisfies Record<LoadReason, keyof Counters>

const failuresByReason = {
  miss: 'failuresMiss',
  stale: 'failuresStale',
  early: 'failuresEarly',
  forced: 'failuresForced',
  scheduled: 'failuresScheduled',
  verify: 'failuresVerify',
} as const satisfies Record<LoadReason, keyof Counters>

const byCause = {
  revalidate: 'staleRevalidate',
  error: 'staleError',
  timeout: 'staleTimeout',
  outage: 'staleOutage',
  mode: 'staleMode',
  ahead: 'staleAhead',
} as const satisfies Record<StaleCause, keyof Counters>

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
  ran: {
    readonly ms: number
    readonly unleased: Unleased | undefined
    readonly callers: number
  },
): void {
  const { target, reason } = work
  const { key, source } = target
  const { counters, name } = source
  counters.loads++
  counters[byReason[reason]]++
  engine.listeners.tell('load', () => ({ name, key, ...ran, reason }))
}

/** A load that failed. */
export function countFailure(engine: Engine, { target, reason }: Work, error: unknown): void {
  const { key, source } = target
  const { counters, name } = source
  counters.loadsFailed++
  counters[failuresByReason[reason]]++
  engine.listeners.tell('loadFailed', () => ({ name, key, error, reason }))
}

/** A stale answer; `freshUntil`: of its entry. */
export function countStale(
  engine: Engine,
  { counters, name }: Source,
  key: string,
  stale: {
    readonly cause: StaleCause
    readonly tier: 'memory' | 'store' | 'source'
    readonly freshUntil: number
  },
): void {
  const { cause, tier, freshUntil } = stale
  counters.stale++
  if (tier === 'store') counters.staleStore++
  counters[byCause[cause]]++
  engine.listeners.tell('stale', () => {
    const ms = Math.max(0, engine.clock.now() - freshUntil)
    return { name, key, cause, ms }
  })
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
