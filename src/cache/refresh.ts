/** Flights are started here: for a caller, or in the background while an older value is served. */
import type { LoadReason } from '../core/events.ts'
import { Flight, type Purpose } from '../flight/flight.ts'
import { refuseCycle } from '../flight/nesting.ts'
import { isLeftToAhead } from './ahead.ts'
import type { Seat } from './batch.ts'
import { around, type Answer, type Engine, type Flying, type Target, type Work } from './engine.ts'
import type { Entry } from './entry.ts'
import { cooldownOf } from './failure.ts'
import { fly } from './fetch.ts'
import { forbidsLoad, modeOf } from './modes.ts'
import { giveToPlatform } from './platform.ts'

/** For a caller: the flight that others join from now on, or (`alone`) one of its own. Throws `CYCLE`. */
export function startFlight(engine: Engine, what: Omit<Work, 'seat'>, seat?: Seat): Flying {
  refuseCycle(engine, what.target.key)
  const work: Work = { ...what, seat: undefined }
  const flight = flightOf(engine, work, work.mode === 'force' ? 'refresh' : 'read')
  if (work.mode === 'alone') engine.flights.addAlone(flight)
  else engine.flights.add(flight)
  if (seat?.take(flight) === true) work.seat = seat
  void engine.background.track(fly(engine, work, flight))
  return flight
}

/**
 * At most one refresh of a key is pending or running here; one that is denied the lease waits for
 * the other's result without callers. It runs in the cache's own context, not the reader's.
 */
export function startRefresh(
  engine: Engine,
  target: Target,
  known: Entry,
  reason: 'early' | 'stale',
  seat?: Seat,
): void {
  const { key } = target
  if (isLeftToAhead(engine, target.source))
    return engine.ahead!.ask(target, { known, since: -Infinity })
  if (engine.state !== 'open' || engine.flights.current(key) !== undefined) return
  if (forbidsLoad(modeOf(engine, target.source), true)) return
  if (reason === 'early' && engine.limiter.queued > 0) return
  if (cooldownOf(engine, target.source, key, engine.clock.now()) !== undefined) return
  const { done } = inBackground(engine, { target, reason, known }, seat)
  // In the reader's context: there a platform finds the request that is to stay awake.
  giveToPlatform(engine, done)
}

/** A flight without callers, whatever is in memory. It never rejects; its result may. */
export function inBackground(
  engine: Engine,
  what: Pick<Work, 'target' | 'reason' | 'known' | 'backoffMs' | 'mayGoAlone'> & {
    readonly since?: number
  },
  seat?: Seat,
): { readonly flight: Flying; readonly done: Promise<void> } {
  return engine.detached(() => {
    const seen = what.known?.stamp
    const { since = -Infinity } = what
    const work: Work = { ...what, seen, seat: undefined, since, mode: 'share' }
    const flight = flightOf(engine, work, 'background')
    engine.flights.add(flight)
    if (seat?.take(flight) === true) work.seat = seat
    return { flight, done: engine.background.track(afterCallers(engine, work, flight)) }
  })
}

/** Through the limiter, as work in the background; kept nowhere, and nobody joins it. */
export function loadAside(engine: Engine, target: Target, reason: LoadReason): Flying {
  const aside = { ...target, source: around(target.source) }
  const nothing = { known: undefined, seen: undefined, seat: undefined, since: -Infinity }
  const work: Work = { target: aside, reason, mode: 'alone', ...nothing }
  const flight = flightOf(engine, work, 'background')
  engine.flights.addAlone(flight)
  void fly(engine, work, flight)
  return flight
}

/** Whoever is answered in this turn comes first: two hops let all of their continuations run before. */
async function afterCallers(engine: Engine, work: Work, flight: Flying): Promise<void> {
  await Promise.resolve()
  await Promise.resolve()
  await fly(engine, work, flight)
}

function flightOf(engine: Engine, work: Work, purpose: Purpose): Flying {
  const now = engine.clock.now()
  const flight = new Flight<Answer, Work>(engine, { key: work.target.key, purpose, work, now })
  flight.controls.outdated = (how) => {
    if (how === 'gone') work.known = undefined
    else work.known?.expire(engine.clock.now())
  }
  return flight
}
