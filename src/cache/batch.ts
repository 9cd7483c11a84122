/**
 * One call of `loadMany` for those entries of a `getMany` that this process is to load. Each entry
 * has its own flight and its own lease; a seat says whether its flight comes to the common load. When
 * of every seat it is known, the load begins: nobody waits here for what somebody else is loading.
 *
 * Invariant: every seat is decided within one question to the store.
 */
import type { BatchContext, EntryContext, LoadContext } from '../api.ts'
import { BreakwaterError, describe } from '../core/errors.ts'
import type { Place } from '../flight/limiter.ts'
import { noPlace } from '../flight/limiter.ts'
import { inside, outside, ridesOn, waitFor } from '../flight/nesting.ts'
import type { Engine, Flying, Source } from './engine.ts'

export interface BatchLoader {
  readonly source: Source
  keyFor(arg: unknown): string
  loadMany(args: readonly unknown[], ctx: BatchContext<unknown>): unknown
}

interface Loading {
  readonly seat: Seat
  readonly ctx: LoadContext
  resolve(value: unknown): void
  reject(error: unknown): void
}

export class Seat {
  readonly key: string
  readonly arg: unknown
  readonly #batch: Batch
  #state: 'open' | 'taken' | 'loading' | 'left' = 'open'
  flight: Flying | undefined
  /** When the common load began, on this process's clock. */
  begunAt: number | undefined
  /** There was no place for it: nothing was loaded. */
  overloaded = false

  constructor(batch: Batch, key: string, arg: unknown) {
    this.#batch = batch
    this.key = key
    this.arg = arg
  }

  /** Its flight is not decided yet, or comes. */
  get isIn(): boolean {
    return this.#state !== 'left'
  }

  /** This flight will decide. False: it is decided already, the flight goes by itself. */
  take(flight: Flying): boolean {
    if (this.#state !== 'open') return false
    this.#state = 'taken'
    this.flight = flight
    return true
  }

  /** No flight of ours: the value was there, or another flight brings it. */
  leaveUntaken(): void {
    if (this.#state === 'open') this.leave()
  }

  /** It does not come, or comes too late for this load and loads by itself. */
  leave(): void {
    if (this.#state === 'left' || this.#state === 'loading') return
    this.#state = 'left'
    this.#batch.decided()
  }

  load(ctx: LoadContext): Promise<unknown> {
    this.#state = 'loading'
    return new Promise((resolve, reject) => this.#batch.join({ seat: this, ctx, resolve, reject }))
  }
}

export class Batch {
  readonly #engine: Engine
  readonly #loader: BatchLoader
  readonly #loading: Loading[] = []
  #undecided = 0

  constructor(engine: Engine, loader: BatchLoader) {
    this.#engine = engine
    this.#loader = loader
  }

  /** All seats are taken before anybody begins. */
  seat(key: string, arg: unknown): Seat {
    this.#undecided++
    return new Seat(this, key, arg)
  }

  decided(): void {
    if (--this.#undecided === 0 && this.#loading.length > 0) void this.#run()
  }

  join(loading: Loading): void {
    this.#loading.push(loading)
    this.decided()
  }

  /** Never rejects: each seat is told. */
  async #run(): Promise<void> {
    const all = this.#loading
    let place: Place
    try {
      place = await this.#queue(all)
    } catch (error) {
      for (const { seat, reject } of all) {
        seat.overloaded = true
        reject(error)
      }
      return
    }
    const now = this.#engine.clock.now()
    for (const { seat } of all) seat.begunAt = now
    const controller = new AbortController()
    let left = all.length
    const leave = (reason: unknown): void => {
      if (--left === 0) controller.abort(reason)
    }
    for (const { ctx } of all) {
      if (ctx.signal.aborted) leave(ctx.signal.reason)
      else ctx.signal.addEventListener('abort', () => leave(ctx.signal.reason), { once: true })
    }
    const result = this.#load(all, controller.signal)
    controller.signal.addEventListener('abort', () => place.abandon(result), { once: true })
    await result
    place.leave()
  }

  /** One place among all loads of the process, for all of them. */
  async #queue(all: readonly Loading[]): Promise<Place> {
    const { limiter, clock } = this.#engine
    const flights = all.map(({ seat }) => seat.flight!)
    if (flights.some((flight) => flight.hurried || ridesOn(this.#engine, flight))) return noPlace
    const entered = limiter.enter(all[0]!.seat.key, clock.now() + limiter.queueMs)
    if (!('place' in entered)) return entered
    for (const { controls } of flights) controls.hurry = () => entered.ride()
    try {
      return await entered.place
    } finally {
      for (const { controls } of flights) controls.hurry = undefined
    }
  }

  async #load(all: readonly Loading[], signal: AbortSignal): Promise<void> {
    const [lead] = all
    const { flight } = lead!.seat
    // A loader that asks for one of its own entries is told so, whichever of them it is.
    const ends = all.slice(1).map(({ seat }) => waitFor(seat.flight!, flight!))
    try {
      const args = all.map(({ seat }) => seat.arg)
      const ctx = this.#context(all, signal)
      const many = await inside(flight!, async () => this.#loader.loadMany(args, ctx))
      const results = this.#match(all, many)
      for (const [n, { resolve, reject }] of all.entries()) {
        const result = results[n]
        if (result instanceof Error) reject(result)
        else resolve(result)
      }
    } catch (error) {
      for (const { reject } of all) reject(error)
    } finally {
      for (const end of ends) end()
      outside()
    }
  }

  #context(all: readonly Loading[], signal: AbortSignal): BatchContext<unknown> {
    const { deadline } = all[0]!.ctx
    const reasons = all.map(({ ctx }) => ctx.reason)
    return {
      signal,
      deadline,
      reason: reasons.includes('miss') ? 'miss' : reasons[0]!,
      entry: (arg): EntryContext => {
        const key = this.#loader.keyFor(arg)
        const found = all.find(({ seat }) => seat.key === key)
        if (found !== undefined) return found.ctx
        const text = `${key}: is none of the ${all.length} entries that this call of loadMany loads`
        throw new BreakwaterError('INVALID_KEY', text, { key })
      },
    }
  }

  /** By key, never by identity, and never by position in a list of another length. */
  #match(all: readonly Loading[], many: unknown): readonly unknown[] {
    if (many instanceof Map) {
      const byKey = new Map<string, unknown>()
      for (const [arg, value] of many as Map<unknown, unknown>) {
        byKey.set(this.#loader.keyFor(arg), value)
      }
      return all.map(({ seat }) => (byKey.has(seat.key) ? byKey.get(seat.key) : null))
    }
    if (Array.isArray(many) && many.length === all.length) return many
    const got = Array.isArray(many) ? `${many.length} results` : describe(many)
    throw new BreakwaterError(
      'INVALID_OPTION',
      `${this.#loader.source.name}.loadMany: expected ${all.length} results in the order of the arguments, or a Map by argument, got ${got}`,
    )
  }
}
