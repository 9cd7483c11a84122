/**
 * What is to be told of one cache: its own counters and health as they are, and of its events the few
 * things that it does not count. Nothing here is done for a hit.
 *
 * Names are those of definitions, and no more than so many of them: whoever makes definitions without
 * end (one per user, say) has the rest of them under one name, and no series without end.
 */
import type { Cache, Health } from '../api.ts'
import { newCounters, type Counters } from '../core/events.ts'

export interface Snapshot {
  readonly namespace: string
  readonly counters: ReadonlyMap<string, Readonly<Counters>>
  readonly health: Health
  readonly totals: Totals
  labelOf(name: string): string
}

/** Counted from events, since the watch began. */
export interface Totals {
  invalidatedByTag: number
  invalidatedAll: number
  invalidationsLost: number
  breakerOpened: number
  busGaps: number
  /** By operation: a closed set. */
  readonly storeErrors: Map<string, number>
  /** When the last load that ended well did, ms since 1970; by name. */
  readonly lastLoadAt: Map<string, number>
}

/** What is told at once. */
export interface Observed {
  load(name: string, ms: number): void
  callers(name: string, count: number): void
  waited(name: string, ms: number): void
  stale(name: string, ms: number): void
  mismatch(name: string, ms: number): void
}

export const oneOff = '(one-off)'
export const others = '(others)'
const mostNames = 500
/** One scrape asks for each metric by itself. */
const sameScrapeMs = 20

export class Watch {
  readonly #cache: Cache
  readonly #names = new Map<string, string>([['', oneOff]])
  readonly #stops: (() => void)[]
  readonly #totals: Totals = {
    invalidatedByTag: 0,
    invalidatedAll: 0,
    invalidationsLost: 0,
    breakerOpened: 0,
    busGaps: 0,
    storeErrors: new Map(),
    lastLoadAt: new Map(),
  }
  #taken: Snapshot | undefined
  #takenAt = -Infinity

  constructor(cache: Cache, observed: Observed) {
    this.#cache = cache
    const totals = this.#totals
    this.#stops = [
      cache.on('load', ({ name: own, reason, ms, callers }) => {
        const name = this.#labelOf(own)
        observed.load(name, ms)
        // Nobody was to have what was loaded to verify: it says nothing of callers, or of what they get.
        if (reason === 'verify') return
        totals.lastLoadAt.set(name, Date.now())
        observed.callers(name, callers)
      }),
      cache.on('waited', ({ name, ms }) => observed.waited(this.#labelOf(name), ms)),
      cache.on('stale', ({ name, ms }) => observed.stale(this.#labelOf(name), ms)),
      cache.on('verified', ({ name, result, ms }) => {
        if (result === 'different') observed.mismatch(this.#labelOf(name), ms)
      }),
      cache.on('invalidated', ({ tags, all }) => {
        if (tags !== undefined) totals.invalidatedByTag++
        if (all === true) totals.invalidatedAll++
      }),
      cache.on('invalidationsLost', () => {
        totals.invalidationsLost++
      }),
      cache.on('breaker', ({ state }) => {
        if (state === 'open') totals.breakerOpened++
      }),
      cache.on('bus', ({ state }) => {
        if (state === 'silent') totals.busGaps++
      }),
      cache.on('storeFailed', ({ operation }) => {
        totals.storeErrors.set(operation, (totals.storeErrors.get(operation) ?? 0) + 1)
      }),
    ]
  }

  get isOver(): boolean {
    return this.#cache.health().status === 'closed'
  }

  /** All names that its series have had. */
  get labels(): Iterable<string> {
    return [...this.#names.values(), others]
  }

  snapshot(): Snapshot {
    const now = performance.now()
    if (this.#taken !== undefined && now - this.#takenAt < sameScrapeMs) return this.#taken
    this.#takenAt = now
    return (this.#taken = {
      namespace: this.#cache.namespace,
      counters: this.#counters(),
      health: this.#cache.health(),
      totals: this.#totals,
      labelOf: (name) => this.#labelOf(name),
    })
  }

  stop(): void {
    for (const stop of this.#stops.splice(0)) stop()
  }

  #counters(): Map<string, Counters> {
    const all = this.#cache.counters()
    const byName = new Map<string, Counters>()
    for (const [own, counters] of Object.entries(all)) {
      const name = this.#labelOf(own)
      const known = byName.get(name)
      byName.set(name, known === undefined ? counters : sum(known, counters))
    }
    return byName
  }

  #labelOf(name: string): string {
    const known = this.#names.get(name)
    if (known !== undefined) return known
    if (this.#names.size > mostNames) return others
    this.#names.set(name, name)
    return name
  }
}

function sum(one: Counters, other: Counters): Counters {
  const both = newCounters()
  for (const name of Object.keys(both) as (keyof Counters)[]) both[name] = one[name] + other[name]
  return both
}
