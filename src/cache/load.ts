/**
 * The holder's part: queue for a place, run the loader, answer its callers, then publish. Its
 * callers never wait for the publish. Whatever goes wrong, the lease is given back or marked as
 * failed; whether an older value covers a failure is each caller's own question.
 */
import { mayCover } from '../core/decide.ts'
import { BreakwaterError } from '../core/errors.ts'
import type { Unleased } from '../core/events.ts'
import type { Place } from '../flight/limiter.ts'
import { ridesOn } from '../flight/nesting.ts'
import { countFailure, countLoad, countUnleased } from './count.ts'
import { isClosed, usesMemory, type Answer, type Engine, type Flying, type Work } from './engine.ts'
import { callbackFailed } from './failure.ts'
import { fill } from './fill.ts'
import { filling, inspected, type Filling } from './filling.ts'
import { keep } from './keep.ts'
import type { Lease } from './lease.ts'
import { forbidsLoad, modeOf, notLoaded } from './modes.ts'
import { giveToPlatform } from './platform.ts'
import { runLoader, type Ran } from './run-loader.ts'
import { traced } from './traced.ts'
import { toWire, withAsOf } from './wire-error.ts'

export interface How {
  readonly lease: Lease | undefined
  readonly unleased: Unleased | undefined
}

/** `again`: the lease was lost in the queue, before anything was loaded. */
export async function load(
  engine: Engine,
  work: Work,
  flight: Flying,
  how: How,
): Promise<Answer | 'again'> {
  const { key } = work.target
  const { lease } = how
  const { controls } = flight
  const controller = new AbortController()
  const desert = (): void => {
    flight.doomed = true
    engine.flights.detach(flight)
    controller.abort(new DOMException(`${key}: nobody waits for it any more`, 'AbortError'))
  }
  flight.phase = 'queue'
  controls.abandoned = desert
  controls.stop = (reason) => controller.abort(reason)
  flight.place ??= await queue(engine, work, flight, { lease, signal: controller.signal })
  const { place } = flight
  if (flight.deserted) desert()
  if (flight.doomed || isClosed(engine)) {
    flight.leavePlace()
    void lease?.release(isClosed(engine) ? 'close' : 'abort')
    throw controller.signal.aborted ? controller.signal.reason : closed(key)
  }
  // It may have been switched while this was in the queue.
  const mode = modeOf(engine, work.target.source)
  if (forbidsLoad(mode, flight.isBackground)) {
    // Whoever comes now starts anew.
    engine.flights.detach(flight)
    flight.leavePlace()
    void lease?.release('overload')
    throw notLoaded(work.target.source, key, mode)
  }
  if (lease !== undefined && flight.outdated) {
    if (work.seat?.isIn === true) {
      work.seat.leave()
      flight.leavePlace()
    }
    // Perhaps the lease is younger than the change that was heard of: given back in any case, or
    // we would wait for ourselves.
    void lease.release('late')
    return 'again'
  }

  flight.place = undefined
  flight.phase = 'load'
  flight.outdated = false
  flight.trust = engine.hearing.trust
  const { trust, outage } = engine.hearing
  if (lease !== undefined) {
    // Others may wait elsewhere: only the store knows. Whoever joins meanwhile is not deserted.
    lease.onRenewed = (state) => {
      if (flight.deserted && state !== 'awaited') desert()
    }
    controls.abandoned = () => void lease.renew()
  }
  countUnleased(work.target.source.counters, how.unleased)
  let ran: Ran
  try {
    const of = { work, flight, lease: lease?.token, unleased: how.unleased }
    ran = await traced(engine, of, () => runLoader({ engine, work, flight, place, controller }))
  } catch (error) {
    place.leave()
    failed(engine, work, flight, { lease, error })
    throw error
  } finally {
    controls.abandoned = undefined
    controls.stop = undefined
  }
  engine.cooldowns.delete(key)
  const { callers } = flight
  countLoad(engine, work, { ms: ran.endedAt - ran.startedAt, unleased: how.unleased, callers })
  const since = { ...how, trust, outage }
  let made: Filling
  try {
    const inspecting = inspected(engine, work, ran, lease)
    const seen = inspecting instanceof Promise ? await inspecting : inspecting
    made = filling(engine, work, ran, { ...since, seen })
  } catch (error) {
    // Else it would be renewed for as long as this process lives.
    void lease?.release('unstorable')
    throw error
  }
  const answer: Answer = {
    entry: made.entry,
    outcome: 'loaded',
    tier: 'source',
    private: made.private,
    isUnkept: made.mark !== undefined,
  }
  flight.phase = 'publish'
  if (made.mark !== undefined || made.outdated || engine.hearing.isDeaf(ran.endedAt)) {
    // For those who had joined, and nobody else: who comes now finds the mark, or asks the store.
    engine.flights.detach(flight)
    const mark = made.lifeMs > 0 && !flight.outdated ? made.mark : undefined
    const { rules } = work.target.source
    if (mark !== undefined && usesMemory(engine, rules)) keep(engine, key, mark)
  }
  flight.resolve(answer)
  const filled = fill(engine, work, flight, made, since)
  if (lease !== undefined && flight.purpose !== 'background') giveToPlatform(engine, filled)
  await filled
  return answer
}

/**
 * A turn among the loads of this key, then a place among all of this process. Both end with the
 * place. The time in the queue counts for the whole flight, however often its lease is lost there.
 */
async function queue(
  engine: Engine,
  work: Work,
  flight: Flying,
  how: { readonly lease: Lease | undefined; readonly signal: AbortSignal },
): Promise<Place> {
  const { target, mode, seat } = work
  const { lease, signal } = how
  const { controls } = flight
  let endTurn = (): void => {}
  try {
    if (engine.flights.isCrowded(target.key)) {
      seat?.leave()
      flight.hasWaited = true
    }
    if (mode !== 'alone') endTurn = await engine.flights.turn(target.key)
    if (seat?.isIn === true) return withTurn(await seat.arrive(signal), endTurn)
    if (flight.hurried || ridesOn(engine, flight)) return withTurn(engine.limiter.ride(), endTurn)
    // One that had nobody to wait for has queued since it was called for, however many of them this
    // process is busy with.
    const from = flight.hasWaited ? engine.clock.now() : flight.begunAt
    flight.queueUntil ??= from + engine.limiter.queueMs
    const { queueUntil: until, isBackground } = flight
    const turn = { key: target.key, until, isBackground }
    const entered = engine.limiter.enter(turn)
    if (!('place' in entered)) return withTurn(entered, endTurn)
    controls.hurry = () => entered.ride()
    controls.wanted = () => entered.promote()
    const cancel = (): void => entered.cancel(signal.reason)
    if (signal.aborted) cancel()
    else signal.addEventListener('abort', cancel, { once: true })
    return withTurn(await entered.place, endTurn)
  } catch (error) {
    endTurn()
    if (!signal.aborted) target.source.counters.overloaded++
    const why = isClosed(engine) ? 'close' : signal.aborted ? 'abort' : 'overload'
    void lease?.release(why)
    throw error
  } finally {
    controls.hurry = undefined
    controls.wanted = undefined
  }
}

/** The next load of the key may begin when this one has ended, or was given up. */
function withTurn(place: Place, endTurn: () => void): Place {
  return {
    leave: () => {
      place.leave()
      endTurn()
    },
    abandon: (ended, forgetMs) => {
      place.abandon(ended, forgetMs)
      endTurn()
    },
  }
}

function failed(
  engine: Engine,
  work: Work,
  flight: Flying,
  how: { readonly lease: Lease | undefined; readonly error: unknown },
): void {
  const { target, known } = work
  const { key, source } = target
  const { rules, name } = source
  const { lease, error } = how
  if (flight.doomed || isClosed(engine)) {
    void lease?.release(isClosed(engine) ? 'close' : 'abort')
    return
  }
  countFailure(engine, work, error)
  const now = engine.clock.now()
  const covered = known !== undefined && mayCover(known, now, rules)
  const usualMs = covered ? rules.errorBackoffMs : rules.errorTtlMs
  const backoffMs = work.backoffMs ?? usualMs
  if (backoffMs > 0 && !flight.outdated && engine.remembers && !source.isAround) {
    engine.cooldowns.set(key, { until: now + backoffMs, tick: flight.tick, error, covered })
  }
  if (lease === undefined) return
  lease.stop()
  const text = toWire(error, rules, (fault) => {
    callbackFailed(engine, { name, key }, 'errors', fault)
  })
  const wire = withAsOf(text, flight.asOf)
  const failure = { key, token: lease.token, error: wire, backoffMs: Math.ceil(backoffMs) }
  const told = engine.store!.call('fail', key, (session) => session.fail(failure))
  void engine.background.track(told.catch(() => {}))
}

export function closed(key: string): BreakwaterError {
  return new BreakwaterError('CLOSED', `${key}: the cache was closed`, { key })
}
