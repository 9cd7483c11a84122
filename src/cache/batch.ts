/**
 * One call of `loadMany` for those entries of a `getMany` that this process is to load. Each entry
 * has its own flight and its own lease; a seat says whether its flight comes to the common load. When
 * that is known of every seat, one place among the loads of the process is asked for, and then the
 * load begins: nobody waits here for what somebody else is loading.
 *
 * Invariant: every seat is decided within one question to the store, and ends: it loads, or leaves.
 */
import { types } from 'node:util'
import type { BatchContext, EntryContext, LoadContext } from '../api.ts'
import type { Ending } from '../core/adaptive-limit.ts'
import { BreakwaterError, describe } from '../core/errors.ts'
import { deferred, type Deferred } from '../flight/deferred.ts'
import type { Place } from '../flight/limiter.ts'
import { inside, outside, ridesOn, thisContext, waitFor, type Waitable } from '../flight/nesting.ts'
import type { Engine, Flying, Source } from './engine.ts'
import { sharedPlace } from './shared-place.ts'

export interface BatchLoader {
  readonly source: Source
  keyFor(arg: unknown): string
  loadMany(args: readonly unknown[], ctx: BatchContext<unknown>): unknown
}

/** `open`: no flight yet. `taken`: its flight will decide. `waiting`: it comes. */
type State = 'open' | 'taken' | 'waiting' | 'placed' | 'loading' | 'left'

export class Seat {
  readonly key: string
  readonly arg: unknown
  readonly #batch: Batch
  state: State = 'open'
  // Each from the state on in which it is of use: most seats are never taken.
  flight!: Flying
  place!: Deferred<Place>
  result!: Deferred<unknown>
  ctx!: LoadContext
  /** Runs in the context of its call. */
  inContext!: <T>(run: () => T) => T

  constructor(batch: Batch, key: string, arg: unknown) {
    this.#batch = batch
    this.key = key
    this.arg = arg
  }

  /** Its flight is not decided yet, or comes. */
  get isIn(): boolean {
    return this.state !== 'left'
  }

  /** This flight will decide. False: it is decided already, the flight goes by itself. */
  take(flight: Flying): boolean {
    if (this.state !== 'open') return false
    this.state = 'taken'
    this.flight = flight
    return true
  }

  /** No flight of ours: the value was there, or another flight brings it. */
  leaveUntaken(): void {
    if (this.state === 'open') this.leave()
  }

  /** It does not come, or comes too late for this load and loads by itself. */
  leave(): void {
    if (this.state === 'left' || this.state === 'loading') return
    const before = this.state
    this.state = 'left'
    this.#batch.left(before)
  }

  /** Its flight may load: resolves with its share of the common place, when it is time. */
  arrive(signal: AbortSignal): Promise<Place> {
    this.state = 'waiting'
    this.place = deferred()
    const leave = (): void => {
      this.place.reject(signal.reason)
      this.leave()
    }
    this.#batch.decided()
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    return this.place.promise
  }

  load(ctx: LoadContext): Promise<unknown> {
    this.state = 'loading'
    this.result = deferred()
    this.ctx = ctx
    this.inContext = thisContext()
    this.#batch.comes()
    return this.result.promise
  }
}

export class Batch {
  readonly #engine: Engine
  readonly #loader: BatchLoader
  readonly #seats: Seat[] = []
  #undecided = 0
  /** Have a place, and have neither begun nor left. */
  #expected = 0
  #cancel: (() => void) | undefined
  readonly #ended = deferred<void>()

  constructor(engine: Engine, loader: BatchLoader) {
    this.#engine = engine
    this.#loader = loader
  }

  /** All seats are made before anybody begins. */
  seat(key: string, arg: unknown): Seat {
    const seat = new Seat(this, key, arg)
    this.#seats.push(seat)
    this.#undecided++
    return seat
  }

  decided(): void {
    if (--this.#undecided === 0) void this.#enter()
  }

  /** A seat is empty that was in this state before. */
  left(before: State): void {
    if (before === 'placed') this.comes()
    else if (before !== 'waiting') this.decided()
    else if (this.#in('waiting').length === 0) this.#cancel?.()
  }

  /** One of those who have a place has begun, or left. */
  comes(): void {
    if (--this.#expected === 0) void this.#load()
  }

  #in(state: State): Seat[] {
    return this.#seats.filter((seat) => seat.state === state)
  }

  /** One place among all loads of the process, for all who come. */
  async #enter(): Promise<void> {
    const waiting = this.#in('waiting')
    if (waiting.length === 0) return
    let place: Place
    try {
      place = await this.#queue(waiting)
    } catch (error) {
      for (const seat of this.#in('waiting')) seat.place.reject(ofOwnKey(error, seat.key))
      return
    }
    const coming = this.#in('waiting')
    const shares = sharedPlace(place, coming.length, this.#ended.promise)
    this.#expected = coming.length
    for (const [n, seat] of coming.entries()) {
      seat.state = 'placed'
      seat.place.resolve(shares[n]!)
    }
    if (coming.length === 0) place.leave()
  }

  async #queue(waiting: readonly Seat[]): Promise<Place> {
    const { limiter, clock } = this.#engine
    const flights = waiting.map(({ flight }) => flight)
    if (flights.some((flight) => flight.hurried || ridesOn(this.#engine, flight)))
      return limiter.ride()
    const isBackground = flights.every((flight) => flight.isBackground)
    const until = clock.now() + limiter.queueMs
    const entered = limiter.enter({ key: waiting[0]!.key, until, isBackground })
    if (!('place' in entered)) return entered
    for (const { controls } of flights) {
      controls.hurry = () => entered.ride()
      controls.wanted = () => entered.promote()
    }
    this.#cancel = () => entered.cancel(new Error('nobody waits for it any more'))
    try {
      return await entered.place
    } finally {
      this.#cancel = undefined
      for (const { controls } of flights) controls.hurry = controls.wanted = undefined
    }
  }

  /** Never rejects: each seat is told. */
  async #load(): Promise<void> {
    const all = this.#in('loading')
    if (all.length === 0) return this.#ended.resolve()
    // In the context of a call, if there is one: a refresh has none.
    const lead = all.find(({ flight }) => flight.purpose !== 'background') ?? all[0]!
    // Its own in the eyes of what it calls: it goes on although single flights have ended.
    const flights = all.map(({ flight }) => flight)
    const load = new CommonLoad(this.#engine, lead.flight, flights)
    const { limiter, clock } = this.#engine
    const startedAt = clock.now()
    const told = (how: Ending): void => {
      if (load.over) return
      limiter.ended({ name: `${this.#loader.source.name} (many)`, startedAt, how })
    }
    const ends = all.map(({ flight }) => waitFor(flight, load))
    try {
      const args = Object.freeze(all.map(({ arg }) => arg))
      const ctx = this.#context(all)
      const many = await lead.inContext(() =>
        inside(load, async () => this.#loader.loadMany(args, ctx)),
      )
      told('answered')
      const results = await Promise.allSettled(this.#match(all, many))
      for (const [n, { result }] of all.entries()) {
        const one = results[n]!
        if (one.status === 'rejected') result.reject(one.reason)
        else if (isError(one.value)) result.reject(one.value)
        else result.resolve(one.value)
      }
    } catch (error) {
      if (!(error instanceof BreakwaterError)) told('failed')
      for (const { result } of all) result.reject(error)
    } finally {
      load.ended = true
      for (const end of ends) end()
      outside()
      this.#ended.resolve()
    }
  }

  #context(all: readonly Seat[]): BatchContext<unknown> {
    const { deadline } = all[0]!.ctx
    const reasons = all.map(({ ctx }) => ctx.reason)
    return {
      signal: lastOf(all.map(({ ctx }) => ctx.signal)),
      deadline,
      reason: reasons.includes('miss') ? 'miss' : reasons[0]!,
      entry: (arg): EntryContext => {
        const key = this.#loader.keyFor(arg)
        const found = all.find((seat) => seat.key === key)
        if (found !== undefined) return found.ctx
        const text = `${key}: is none of the ${all.length} entries that this call of loadMany loads`
        throw new BreakwaterError('INVALID_KEY', text, { key })
      },
    }
  }

  /** By key, never by identity, and never by position in a list of another length. */
  #match(all: readonly Seat[], many: unknown): readonly unknown[] {
    if (types.isMap(many)) {
      const byKey = new Map<string, unknown>()
      for (const [arg, value] of many) byKey.set(this.#loader.keyFor(arg), value)
      return all.map(({ key }) => (byKey.has(key) ? byKey.get(key) : null))
    }
    if (Array.isArray(many) && many.length === all.length) return many
    const got = Array.isArray(many) ? `${many.length} results` : describe(many)
    throw new BreakwaterError(
      'INVALID_OPTION',
      `${this.#loader.source.name}.loadMany: expected ${all.length} results in the order of the arguments, or a Map by argument, got ${got}`,
    )
  }
}

class CommonLoad implements Waitable {
  readonly key: string
  readonly owner: object
  readonly parent: Waitable | undefined
  readonly companions: ReadonlySet<string>
  readonly waitsFor = new Map<Waitable, number>()
  readonly #flights: readonly Waitable[]
  ended = false

  constructor(owner: object, lead: Waitable, flights: readonly Waitable[]) {
    this.owner = owner
    this.key = lead.key
    this.parent = lead.parent
    this.companions = new Set(flights.map(({ key }) => key))
    this.#flights = flights
  }

  /** Given up by all: what its loader does then is work of its own. */
  get over(): boolean {
    return this.ended || this.#flights.every(({ over }) => over)
  }
}

/** Aborts with the last of them. */
function lastOf(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController()
  let left = signals.length
  for (const signal of signals) {
    const leave = (): void => {
      if (--left === 0) controller.abort(signal.reason)
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
  }
  return controller.signal
}

/** Of any realm: a test runner has its own. */
function isError(value: unknown): boolean {
  return value instanceof Error || types.isNativeError(value)
}

function ofOwnKey(error: unknown, key: string): unknown {
  if (!(error instanceof BreakwaterError) || error.code !== 'OVERLOADED') return error
  return new BreakwaterError('OVERLOADED', error.message, { key, cause: error })
}
