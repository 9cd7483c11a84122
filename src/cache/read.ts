/**
 * A read: memory, then whoever is at work on the key already, then the store, then a flight of our
 * own. First what can be had at once; nobody waits who need not.
 */
import type { StaleCause } from '../core/events.ts'
import { refuseCycle } from '../flight/nesting.ts'
import { awaitFill, isLeftToAhead, notYet } from './ahead.ts'
import { refused } from './answer.ts'
import type { Seat } from './batch.ts'
import {
  mayAsk,
  usesStore,
  type Answer,
  type Engine,
  type Flying,
  type Source,
  type Target,
  type Work,
} from './engine.ts'
import type { Entry } from './entry.ts'
import { cooldownOf, coverBy, isFailure } from './failure.ts'
import { heldIn, isStillHeld, isTrusted, lastResort } from './keep.ts'
import { closed } from './load.ts'
import { isOutdatedFor, isOwnDoing, joinable } from './joinable.ts'
import { isOvertaken, type Found } from './look.ts'
import { forbidsLoad, modeOf, notLoaded } from './modes.ts'
import type { ResolvedCall } from './options.ts'
import { startFlight, startRefresh } from './refresh.ts'
import { serve } from './serve.ts'
import { bounded, gaveUp, leftOf, wantedBy, type Wanted } from './wanted.ts'

/** Resolves with an answer that this caller may use. */
export function read(
  engine: Engine,
  target: Target,
  call: ResolvedCall | undefined,
  seat?: Seat,
): Promise<Answer> {
  if (engine.state !== 'open') return Promise.reject(closed(target.key))
  if (call?.signal?.aborted === true) return Promise.reject(call.signal.reason)
  return attempt(engine, target, wantedBy(engine, call, seat))
}

/** Nobody is at work on the key and the store can be asked: a look is the first thing to do. */
export function canLookFirst(engine: Engine, source: Source, key: string): boolean {
  if (engine.state !== 'open' || !usesStore(engine, source.rules)) return false
  if (!engine.store!.isUp(key) || engine.outbox.waits(key) !== undefined) return false
  return engine.flights.current(key)?.purpose !== 'read'
}

/** A read that has looked in the store already, with nothing in memory. */
export async function readFound(
  engine: Engine,
  target: Target,
  found: Found,
  seat?: Seat,
): Promise<Answer> {
  const wanted = wantedBy(engine, undefined, seat)
  return afterLook(engine, target, wanted, { found, held: undefined })
}

async function attempt(engine: Engine, target: Target, wanted: Wanted): Promise<Answer> {
  const { key, source } = target
  const { rules } = source
  const now = engine.clock.now()
  const held = heldIn(engine, source, key)
  const known = held !== undefined && isTrusted(engine, key, held, now) ? held : undefined
  if (known !== undefined) {
    const answer = serve(engine, target, known, { now, wanted, tier: 'memory' })
    if (answer !== undefined) return answer
  } else if (held === undefined && source.guard?.know(target.arg) === false) throw refused
  const running = joinable(engine, target, wanted)
  if (running?.purpose === 'read') {
    return settle(engine, target, wanted, { flight: running, started: false })
  }
  if (known === undefined && mayAsk(engine, rules, key)) {
    const look = engine.looks.at(engine, source, key, held)
    const found = await bounded(engine, key, look, wanted)
    return afterLook(engine, target, wanted, { found, held })
  }
  const usable =
    known ?? (engine.store === undefined ? undefined : lastResort(engine, key, held, now))
  return proceed(engine, target, wanted, { known: usable, seen: known?.stamp, gone: false })
}

function afterLook(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  looked: { readonly found: Found; readonly held: Entry | undefined },
): Answer | Promise<Answer> {
  const { found, held } = looked
  const now = engine.clock.now()
  switch (found.type) {
    case 'none':
      return proceed(engine, target, wanted, { known: undefined, seen: found.seen, gone: false })
    case 'gone': {
      // Unless a change has removed it meanwhile.
      const known = isStillHeld(engine, target.source, target.key, held)
        ? lastResort(engine, target.key, held, now)
        : undefined
      return proceed(engine, target, wanted, { known, seen: undefined, gone: true })
    }
    case 'entry': {
      const { entry } = found
      const overtaken = isOvertaken(engine, found)
      const how = { now, wanted, tier: 'store', asItIs: overtaken } as const
      const answer = serve(engine, target, entry, how)
      if (answer !== undefined) return answer
      const known = overtaken ? undefined : entry
      return proceed(engine, target, wanted, { known, seen: entry.stamp, gone: false })
    }
  }
}

interface Standing {
  /** The guard has been asked. */
  readonly mayExist?: true
  readonly known: Entry | undefined
  readonly seen: Work['seen']
  /** The store could not be asked: not to be asked again for this call. */
  readonly gone: boolean
}

/** Nothing could be served as it stands: a mark, a remembered failure, a running flight, or a new one. */
function proceed(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  standing: Standing,
): Promise<Answer> | Answer {
  const { key, source } = target
  const { known } = standing
  const now = engine.clock.now()
  if (engine.state === 'closed') throw closed(key)
  const leaves = isLeftToAhead(engine, source)
  const mark = known !== undefined && now < known.freshUntil ? known.uncacheable : undefined
  if (mark !== undefined && !leaves) {
    return alone(engine, target, wanted, mark === 'private' ? 'private' : 'uncacheable')
  }
  if (standing.gone || engine.store?.isDown(key) === true) {
    const answer =
      known && serve(engine, target, known, { now, wanted, tier: 'memory', cause: 'outage' })
    if (answer !== undefined) return answer
  }
  // Before the background is asked, too: what cannot exist is not to be loaded by anyone.
  if (leaves && known === undefined && !wanted.polls) {
    const guarded = afterGuard(engine, target, wanted, standing)
    if (guarded !== undefined) return guarded
  }
  if (leaves && source.rules.precompute?.onMiss === 'placeholder') {
    return fromAhead(engine, target, wanted, known)
  }
  const cooldown = source.isAround ? undefined : cooldownOf(engine, source, key, now)
  if (cooldown !== undefined) {
    const stale = coverBy(engine, source, key, { known, since: wanted.since }, 'error')
    if (stale !== undefined && isFailure(engine, source, key, cooldown.error)) return stale
    if (!cooldown.covered) throw cooldown.error
  }
  if (leaves) return fromAhead(engine, target, wanted, known)
  const running = joinable(engine, target, wanted)
  if (running !== undefined) {
    return settle(engine, target, wanted, { flight: running, started: false })
  }
  const older = known?.uncacheable === undefined ? known : undefined
  const mode = modeOf(engine, source)
  if (forbidsLoad(mode, false)) {
    const stale = coverBy(engine, source, key, { known: older, since: wanted.since }, 'mode')
    if (stale !== undefined) return stale
    throw notLoaded(source, key, mode)
  }
  if (older === undefined) {
    const guarded = afterGuard(engine, target, wanted, standing)
    if (guarded !== undefined) return guarded
  }
  const work = {
    target,
    reason: older === undefined ? 'miss' : 'stale',
    since: wanted.since,
    mode: 'share',
    known: older,
    seen: standing.seen,
    unleased: standing.gone ? 'store' : undefined,
  } as const
  const flight = startFlight(engine, work, wanted.seat)
  return settle(engine, target, wanted, { flight, started: true })
}

/** Requests do not load it: the background is asked, and waited for where that was chosen. */
function fromAhead(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  known: Entry | undefined,
): Answer | Promise<Answer> {
  const { key, source } = target
  wanted.seat?.leaveUntaken()
  engine.ahead!.ask(target, { known, since: wanted.since })
  const stale = coverBy(engine, source, key, { known, since: wanted.since }, 'ahead')
  if (stale !== undefined) return stale
  if (source.rules.precompute!.onMiss === 'placeholder' || wanted.polls) throw notYet
  const mode = modeOf(engine, source)
  if (forbidsLoad(mode, false)) throw notLoaded(source, key, mode)
  const asks = { ...wanted, seat: undefined, polls: true }
  const again = async (): Promise<Answer> => {
    const flight = joinable(engine, target, wanted)
    if (flight === undefined) return attempt(engine, target, asks)
    const answer = await settle(engine, target, asks, { flight, started: false })
    // It was not for this call that it was loaded.
    return answer.outcome === 'loaded' ? { ...answer, outcome: 'waited' } : answer
  }
  const running = joinable(engine, target, wanted)
  if (running !== undefined) return again()
  return awaitFill(engine, target, wanted, again)
}

/** Where the guard has to be asked first: what follows then. */
function afterGuard(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  standing: Standing,
): Promise<Answer> | undefined {
  if (standing.mayExist === true || standing.gone) return undefined
  return askGuard(engine, target, wanted)?.then((mayExist) => {
    if (!mayExist) throw refused
    return proceed(engine, target, wanted, { ...standing, mayExist })
  })
}

/** Before a load of what nothing is known of. `undefined`: nobody need be asked. */
function askGuard(engine: Engine, target: Target, wanted: Wanted): Promise<boolean> | undefined {
  const { guard } = target.source
  if (guard === undefined || engine.store?.isDown(target.key) === true) return undefined
  switch (guard.know(target.arg)) {
    case true:
      return undefined
    case false:
      throw refused
    case undefined:
      return bounded(engine, target.key, guard.ask(target.arg), wanted)
  }
}

/** A load for this call and nobody else: hit-for-miss, so that nobody queues behind what is not kept. */
function alone(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  why: 'private' | 'uncacheable',
): Promise<Answer> {
  if (isLeftToAhead(engine, target.source)) return Promise.reject(notYet)
  const mode = modeOf(engine, target.source)
  if (forbidsLoad(mode, false)) throw notLoaded(target.source, target.key, mode)
  const work = { target, reason: 'miss', since: wanted.since, mode: 'alone' } as const
  const unknown = { known: undefined, seen: undefined, unleased: why }
  const flight = startFlight(engine, { ...work, ...unknown }, wanted.seat)
  return settle(engine, target, wanted, { flight, started: true })
}

/** Joins a flight, and makes sure that its answer is one that this caller may use. */
export async function settle(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  joined: { readonly flight: Flying; readonly started: boolean },
): Promise<Answer> {
  const { flight, started } = joined
  const { key, source } = target
  const { call, since, forced } = wanted
  const { clock } = engine
  if (!started) {
    wanted.seat?.leaveUntaken()
    refuseCycle(engine, key)
  }
  // Whoever comes later has even less use for it.
  const again = (): Promise<Answer> => {
    engine.flights.detach(flight)
    return attempt(engine, target, wanted)
  }
  const cover = (cause: StaleCause): Answer | undefined => {
    if (forced) return undefined
    const stale = coverBy(engine, source, key, { known: flight.work.known, since }, cause)
    return stale && { ...stale, hasLoad: started }
  }
  const now = clock.now()
  const { softTimeoutMs } = source.rules
  const soft = softTimeoutMs !== undefined && !forced
  let own: unknown
  let answer: Answer
  const told = (): void => {
    if (started) return
    const { trace: load } = flight
    const ms = clock.now() - now
    engine.listeners.tell('joined', () => ({ name: source.name, key, ms, load }))
  }
  try {
    answer = await flight.join({
      clock,
      signal: call?.signal,
      timeoutMs: leftOf(wanted, now),
      softMs: soft ? Math.max(0, flight.begunAt + softTimeoutMs - now) : undefined,
      cover: () => cover('timeout'),
      gaveUp: () => (own = gaveUp(key, wanted)),
    })
    told()
  } catch (error) {
    told()
    if (error === own || isOwnDoing(error, key, call)) throw error
    const isOfBefore = wanted.tick > flight.tick && flight.startedAt !== undefined
    if (isOfBefore && engine.tags.changedSince(flight.tick, source.labels, []).gone) {
      return again()
    }
    const stale = cover('error')
    if (stale === undefined || !isFailure(engine, source, key, error)) throw error
    return stale
  }
  if (answer.private && !(started && answer.entry.uncacheable === undefined)) {
    return alone(engine, target, wanted, 'private')
  }
  const { entry } = answer
  if (entry.startedAt < since || isOutdatedFor(engine, target, wanted, entry)) return again()
  if (answer.refreshable === engine.changes) startRefresh(engine, target, entry, 'stale')
  return started || answer.outcome !== 'loaded' ? answer : { ...answer, isShared: true }
}
