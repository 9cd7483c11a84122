/**
 * For what a definition is made: the keys of its list, read anew each period, and its guests, which
 * are asked for and not in it. A guest is made once and goes; it stays where its key is listed.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import { callbackFailed } from '../cache/failure.ts'
import { readArgs } from './args.ts'
import type { Hands, Plan } from './plan.ts'
import type { Rounds } from './rounds.ts'
import type { Upkeep } from './upkeep.ts'

/** Asked for and not in the list, at a time: of more, requests have to come again. */
const mostGuests = 1_000

export interface ListingOptions {
  readonly hands: Hands
  readonly definition: AheadDefinition
  readonly plan: Plan
  readonly rounds: Rounds
  newKey(target: Target): Upkeep
}

export class Listing {
  readonly keys = new Map<string, Upkeep>()
  readonly #guests = new Map<string, Upkeep>()
  readonly #options: ListingOptions
  /** Of the arguments, begun so far: the last one counts. */
  #readings = 0

  constructor(options: ListingOptions) {
    this.#options = options
  }

  isListed(key: Upkeep): boolean {
    return this.keys.get(key.target.key) === key
  }

  *all(): Iterable<Upkeep> {
    yield* this.keys.values()
    yield* this.#guests.values()
  }

  /** `undefined`: there is no room for one more guest. */
  of(target: Target): Upkeep | undefined {
    const known = this.keys.get(target.key) ?? this.#guests.get(target.key)
    if (known !== undefined || this.#guests.size >= mostGuests) return known
    const guest = this.#options.newKey(target)
    this.#guests.set(target.key, guest)
    return guest
  }

  /** The guest goes, at that time of the store at the earliest. */
  leave(guest: Upkeep, until: number): void {
    const { key } = guest.target
    const goes = (): void => {
      if (this.#guests.get(key) === guest && guest.place === undefined) this.#guests.delete(key)
    }
    const { plan } = this.#options
    if (until > plan.now) plan.at(until, goes)
    else goes()
  }

  /** Reads what is in it, now and at the beginning of each period. */
  async read(): Promise<void> {
    const { hands, definition, plan, rounds } = this.#options
    const { engine, agenda } = hands
    const { schedule, args } = definition.source.rules.precompute!
    const { begin, end } = schedule.periodAt(plan.now)
    const again = end + engine.clock.random() * Math.min(schedule.periodMs / 20, 5_000)
    const next = plan.at(again, () => void this.read())
    const seen = new Set<string>()
    const reading = ++this.#readings
    // One that was overtaken knows less than the one that followed.
    const isOver = (): boolean => engine.state !== 'open' || reading !== this.#readings
    const take = (arg: unknown): void => {
      const target = this.#targetOf(arg)
      if (target === undefined) return
      seen.add(target.key)
      if (!this.keys.has(target.key)) this.#add(target)
    }
    try {
      await readArgs(engine, args, { take, isOver })
    } catch (error) {
      if (isOver()) return
      this.#badArgs(error)
      // What there was before is kept, and it is asked again before the next period.
      agenda.cross(next)
      const retryAt = plan.now + Math.max(1_000, schedule.periodMs / 4)
      plan.at(Math.min(again, retryAt), () => void this.read())
      return
    }
    if (isOver()) return
    for (const [name, key] of this.keys) {
      if (seen.has(name)) continue
      this.keys.delete(name)
      plan.drop(key)
    }
    rounds.begin(begin, this.keys.size)
  }

  #targetOf(arg: unknown): Target | undefined {
    try {
      return this.#options.definition.targetOf(arg)
    } catch (error) {
      this.#badArgs(error)
      return undefined
    }
  }

  #badArgs(error: unknown): void {
    const { hands, definition } = this.#options
    const { name } = definition.source
    callbackFailed(hands.engine, { name, key: '' }, 'precompute.args', error)
  }

  #add(target: Target): void {
    const { plan, hands, definition, newKey } = this.#options
    const { schedule } = definition.source.rules.precompute!
    const guest = this.#guests.get(target.key)
    const key = guest ?? newKey(target)
    this.#guests.delete(target.key)
    this.keys.set(target.key, key)
    if (guest === undefined) {
      // Processes that start together do not all begin with the same one.
      const spreadMs = Math.min(schedule.periodMs / 10, 500)
      plan.put(key, plan.now + hands.engine.clock.random() * spreadMs)
      // One that has failed as a guest waits for nothing but to be forgotten.
    } else if (guest.place === undefined) plan.next(guest)
  }
}
