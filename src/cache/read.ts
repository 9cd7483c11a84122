/**
 * A read: memory, then whoever is at work on the key already, then the store, then a flight of our
 * own. First what can be had at once; nobody waits who need not.
 */
import { decide, mayCover } from '../core/decide.ts'
import type { LoadReason } from '../core/events.ts'
import type { Flight } from '../flight/flight.ts'
import {
  usesMemory,
  usesStore,
  type Answer,
  type Engine,
  type Source,
  type Target,
  type Work,
} from './engine.ts'
import type { Entry } from './entry.ts'
import { isTrusted, lastResort } from './keep.ts'
import { closed, staleAnswer } from './load.ts'
import type { Found } from './look.ts'
import type { ResolvedCall } from './options.ts'
import { startFlight, startRefresh } from './refresh.ts'
import { bounded, wantedBy, type Wanted } from './wanted.ts'

/** Resolves with an answer that this caller may use. */
export function read(
  engine: Engine,
  target: Target,
  call: ResolvedCall | undefined,
): Promise<Answer> {
  if (engine.closed) return Promise.reject(closed(target.key))
  if (call?.signal?.aborted === true) return Promise.reject(call.signal.reason)
  return attempt(engine, target, wantedBy(call, engine.clock.now()))
}

/** Nobody is at work on the key and the store can be asked: a look is the first thing to do. */
export function canLookFirst(engine: Engine, source: Source, key: string): boolean {
  if (engine.closed || !usesStore(engine, source.rules) || !engine.store!.isUp) return false
  return engine.flights.current(key)?.forCallers !== true
}

/** A read that has looked in the store already, with nothing in memory. */
export function readFound(engine: Engine, target: Target, found: Found): Answer | Promise<Answer> {
  const wanted = wantedBy(undefined, engine.clock.now())
  return afterLook(engine, target, wanted, { found, held: undefined })
}

function attempt(engine: Engine, target: Target, wanted: Wanted): Promise<Answer> {
  const { key, source } = target
  const { rules } = source
  const now = engine.clock.now()
  const held = usesMemory(engine, rules) ? engine.memory!.get(key) : undefined
  const known = held !== undefined && isTrusted(engine, held, now) ? held : undefined
  if (known !== undefined) {
    const answer = serve(engine, target, known, { now, since: wanted.since, tier: 'memory' })
    if (answer !== undefined) return Promise.resolve(answer)
  }
  const running = joinable(engine, key, wanted)
  if (running?.forCallers === true) {
    return settle(engine, target, wanted, {
      flight: running,
      started: false,
      strict: isStrict(wanted),
    })
  }
  if (known === undefined && usesStore(engine, rules) && !engine.store!.isDown) {
    const look = engine.looks.at(engine, source, key, held)
    const found = wanted.call === undefined ? look : bounded(engine, look, wanted)
    return found.then((it) => afterLook(engine, target, wanted, { found: it, held }))
  }
  const usable = known ?? (engine.store === undefined ? undefined : lastResort(engine, held, now))
  return proceed(engine, target, wanted, { known: usable, seen: known?.stamp, gone: false })
}

function afterLook(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  looked: { readonly found: Found; readonly held: Entry | undefined },
): Answer | Promise<Answer> {
  const { found } = looked
  switch (found.type) {
    case 'none':
      return proceed(engine, target, wanted, { known: undefined, seen: found.seen, gone: false })
    case 'gone': {
      const known = lastResort(engine, looked.held, engine.clock.now())
      return proceed(engine, target, wanted, { known, seen: undefined, gone: true })
    }
    case 'entry': {
      const { entry } = found
      const now = engine.clock.now()
      const answer = serve(engine, target, entry, { now, since: wanted.since, tier: 'store' })
      if (answer !== undefined) return answer
      const known = found.outdated ? undefined : entry
      return proceed(engine, target, wanted, { known, seen: entry.stamp, gone: false })
    }
  }
}

interface Standing {
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
): Promise<Answer> {
  const { key, source } = target
  const { rules } = source
  const { known } = standing
  const now = engine.clock.now()
  if (engine.closed) return Promise.reject(closed(key))
  if (known?.uncacheable !== undefined && now < known.freshUntil) {
    if (known.uncacheable === 'private') return alone(engine, target, wanted, 'private')
    const flight = joinable(engine, key, wanted)
    if (flight !== undefined) {
      return settle(engine, target, wanted, { flight, started: false, strict: isStrict(wanted) })
    }
    return begin(engine, target, wanted, { ...standing, known: undefined, alone: 'uncacheable' })
  }
  if (standing.gone || engine.store?.isDown === true) {
    const answer =
      known && serve(engine, target, known, { now, since: wanted.since, tier: 'memory' })
    if (answer !== undefined) return Promise.resolve(answer)
  }
  const cooldown = engine.cooldowns.get(key, now)
  if (cooldown !== undefined) {
    if (known !== undefined && known.startedAt >= wanted.since && mayCover(known, now, rules)) {
      return Promise.resolve(staleAnswer(engine, key, known))
    }
    if (!cooldown.covered) return Promise.reject(cooldown.error)
  }
  const running = joinable(engine, key, wanted)
  if (running !== undefined) {
    return settle(engine, target, wanted, {
      flight: running,
      started: false,
      strict: isStrict(wanted),
    })
  }
  return begin(engine, target, wanted, standing)
}

function begin(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  standing: Standing & { readonly alone?: 'uncacheable' },
): Promise<Answer> {
  const known = standing.known?.uncacheable === undefined ? standing.known : undefined
  const reason: LoadReason = known === undefined ? 'miss' : 'stale'
  const flight = startFlight(engine, {
    target,
    reason,
    since: wanted.since,
    mode: 'share',
    known,
    seen: standing.seen,
    unleased: standing.alone ?? (standing.gone ? 'store' : undefined),
  })
  return settle(engine, target, wanted, { flight, started: true, strict: isStrict(wanted) })
}

/** A load for this call and nobody else. */
function alone(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  why: 'private' | 'uncacheable',
): Promise<Answer> {
  const flight = startFlight(engine, {
    target,
    reason: 'miss',
    since: wanted.since,
    mode: 'alone',
    known: undefined,
    seen: undefined,
    unleased: why,
  })
  return settle(engine, target, wanted, { flight, started: true, strict: true })
}

/** Joins a flight, and makes sure that its answer is one that this caller may use. */
export async function settle(
  engine: Engine,
  target: Target,
  wanted: Wanted,
  joined: { readonly flight: Flight<Answer>; readonly started: boolean; readonly strict: boolean },
): Promise<Answer> {
  const { flight, started, strict } = joined
  const { call, giveUpAt } = wanted
  const timeoutMs = giveUpAt === undefined ? undefined : Math.max(0, giveUpAt - engine.clock.now())
  const answer = await flight.join({ clock: engine.clock, signal: call?.signal, timeoutMs, strict })
  if (answer.private && !(started && answer.entry.uncacheable === undefined)) {
    return alone(engine, target, wanted, 'private')
  }
  const { entry } = answer
  if (entry.startedAt < wanted.since) return attempt(engine, target, wanted)
  if (decide(entry, engine.clock.now(), target.source.rules) === 'stale') {
    startRefresh(engine, target, entry, 'stale')
  }
  return answer
}

function isStrict(wanted: Wanted): boolean {
  return wanted.since !== -Infinity
}

/** The flight that this caller can wait for, if there is one. */
function joinable(engine: Engine, key: string, wanted: Wanted): Flight<Answer> | undefined {
  const flight = engine.flights.current(key)
  if (flight === undefined || flight.doomed) return undefined
  if (flight.startedAt !== undefined && flight.startedAt < wanted.since) return undefined
  return flight
}

/** The entry as an answer, with a refresh begun where one is due; `undefined`: not servable as it is. */
function serve(
  engine: Engine,
  target: Target,
  entry: Entry,
  how: { readonly now: number; readonly since: number; readonly tier: 'memory' | 'store' },
): Answer | undefined {
  if (entry.uncacheable !== undefined || entry.startedAt < how.since) return undefined
  const decision = decide(entry, how.now, target.source.rules)
  switch (decision) {
    case 'serve':
      return { entry, outcome: 'hit', tier: how.tier, private: false }
    case 'early':
    case 'stale':
      startRefresh(engine, target, entry, decision)
      return {
        entry,
        outcome: decision === 'early' ? 'hit' : 'stale',
        tier: how.tier,
        private: false,
      }
    case 'load':
      return undefined
  }
}
