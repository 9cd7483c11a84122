/**
 * The holder's part: queue for a place, run the loader, answer its callers, then publish. Its
 * callers never wait for the publish. Whatever goes wrong, the lease is given back or marked as
 * failed, and a stale value covers what it may.
 */
import { mayCover } from '../core/decide.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Unleased } from '../core/events.ts'
import type { Flight } from '../flight/flight.ts'
import { noPlace, type Place } from '../flight/limiter.ts'
import { ridesOn } from '../flight/nesting.ts'
import type { Answer, Engine, Work } from './engine.ts'
import type { Entry } from './entry.ts'
import { fill, filling } from './fill.ts'
import type { Lease } from './lease.ts'
import { giveToPlatform } from './platform.ts'
import { runLoader, type Ran } from './run-loader.ts'
import { toWire } from './wire-error.ts'

export interface How {
  readonly lease: Lease | undefined
  readonly unleased: Unleased | undefined
}

/** `again`: the lease was lost in the queue, before anything was loaded. */
export async function load(
  engine: Engine,
  work: Work,
  flight: Flight<Answer>,
  how: How,
): Promise<Answer | 'again'> {
  const { key, source } = work.target
  const { lease } = how
  const controller = new AbortController()
  const desert = (): void => {
    flight.doomed = true
    engine.flights.detach(flight)
    controller.abort(new DOMException(`${key}: nobody waits for it any more`, 'AbortError'))
  }
  let place: Place
  try {
    flight.phase = 'queue'
    flight.abandoned = desert
    await engine.flights.turn(key)
    place = ridesOn(engine, flight) ? noPlace : await engine.limiter.enter(key)
  } catch (error) {
    source.counters.overloaded++
    void lease?.release('overload')
    return cover(engine, work, error)
  }
  if (flight.doomed || flight.deserted || engine.closed) {
    engine.flights.detach(flight)
    place.leave()
    void lease?.release(engine.closed ? 'close' : 'abort')
    throw controller.signal.reason ?? closed(key)
  }
  if (lease !== undefined && flight.outdated) {
    place.leave()
    lease.stop()
    return 'again'
  }

  flight.phase = 'load'
  flight.outdated = false
  flight.stop = (reason) => controller.abort(reason)
  const { trust } = engine.hearing
  if (lease !== undefined) {
    // Others may wait elsewhere: only the store knows. Whoever joins meanwhile is not deserted.
    lease.onRenewed = (state) => {
      if (flight.deserted && state !== 'awaited') desert()
    }
    flight.abandoned = () => void lease.renew()
  }
  let ran: Ran
  try {
    ran = await runLoader({ engine, work, flight, place, controller })
  } catch (error) {
    if (flight.doomed || engine.closed) {
      void lease?.release(engine.closed ? 'close' : 'abort')
      throw error
    }
    return failed(engine, work, how, error)
  }
  flight.abandoned = undefined
  flight.stop = undefined
  counted(engine, work, how, ran)
  const made = filling(engine, work, ran, { ...how, trust })
  const answer: Answer = {
    entry: made.entry,
    outcome: 'loaded',
    tier: 'source',
    private: made.private,
  }
  flight.phase = 'publish'
  flight.resolve(answer)
  const filled = fill(engine, work, flight, made, how)
  if (lease !== undefined && !flight.background) giveToPlatform(engine, filled)
  await filled
  return answer
}

function counted(engine: Engine, work: Work, how: How, ran: Ran): void {
  const { key, source } = work.target
  const { counters, name } = source
  const { unleased } = how
  const { reason } = work
  counters.loads++
  if (reason === 'miss') counters.loadsMiss++
  else if (reason === 'stale') counters.loadsStale++
  else if (reason === 'early') counters.loadsEarly++
  else counters.loadsForced++
  countUnleased(work, unleased)
  engine.listeners.tell('load', () => ({
    name,
    key,
    ms: ran.endedAt - ran.startedAt,
    reason,
    unleased,
  }))
}

function countUnleased(work: Work, unleased: Unleased | undefined): void {
  const { counters } = work.target.source
  switch (unleased) {
    case 'waited':
      counters.unleasedWaited++
      return
    case 'store':
      counters.unleasedStore++
      return
    case 'nolease':
      counters.unleasedNolease++
      return
    case 'uncacheable':
      counters.unleasedUncacheable++
      return
    case 'private':
      counters.unleasedPrivate++
      return
    case 'local':
      counters.unleasedLocal++
      return
    case undefined:
  }
}

function failed(engine: Engine, work: Work, how: How, error: unknown): Answer {
  const { target, known } = work
  const { key, source } = target
  const { rules, counters, name } = source
  const { lease } = how
  counters.loadsFailed++
  countUnleased(work, how.unleased)
  engine.listeners.tell('loadFailed', () => ({ name, key, error, reason: work.reason }))
  const now = engine.clock.now()
  const covered = covers(engine, work, error, now)
  const backoffMs = covered ? rules.errorBackoffMs : rules.errorTtlMs
  if (backoffMs > 0) engine.cooldowns.set(key, { until: now + backoffMs, error, covered })
  if (lease !== undefined) {
    lease.stop()
    const text = toWire(error, rules, (fault) => {
      engine.listeners.tell('callbackFailed', () => ({
        name,
        key,
        callback: 'errors',
        error: fault,
      }))
    })
    const failure = { key, token: lease.token, error: text, backoffMs: Math.ceil(backoffMs) }
    const told = engine.store!.call('fail', (session) => session.fail(failure))
    void engine.background.track(told.catch(() => {}))
  }
  // A refresh has failed, the value that it was to replace is still there.
  const holds = known !== undefined && now < known.freshUntil && known.startedAt >= work.since
  if (holds && work.mode !== 'force') {
    return { entry: known, outcome: 'hit', tier: 'memory', private: false }
  }
  return cover(engine, work, error)
}

/** The stale value where one may stand in for the load; else the error. */
export function cover(engine: Engine, work: Work, error: unknown): Answer {
  if (!covers(engine, work, error, engine.clock.now())) throw error
  return staleAnswer(engine, work.target.key, work.known!)
}

export function staleAnswer(engine: Engine, key: string, entry: Entry): Answer {
  const tier = engine.memory?.get(key) === entry ? 'memory' : 'store'
  return { entry, outcome: 'stale', tier, private: false }
}

function covers(engine: Engine, work: Work, error: unknown, now: number): boolean {
  const { known, target } = work
  const { rules, name } = target.source
  if (known === undefined || work.mode === 'force' || known.startedAt < work.since) return false
  if (!mayCover(known, now, rules)) return false
  try {
    return rules.isFailure(error)
  } catch (fault) {
    engine.listeners.tell('callbackFailed', () => ({
      name,
      key: target.key,
      callback: 'isFailure',
      error: fault,
    }))
    return true
  }
}

export function closed(key: string): BreakwaterError {
  return new BreakwaterError('CLOSED', `${key}: the cache was closed`, { key })
}
