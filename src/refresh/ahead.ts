/**
 * Values made before anyone asks, for one cache: its definitions, and the messages that concern them.
 * A process that takes no part makes nothing, and asks those that do.
 */
import type { Ahead, AheadDefinition, AheadFactory, Found } from '../cache/ahead.ts'
import type { Cache } from '../api.ts'
import { engineOf, type Companion, type CompanionHealth } from '../cache/companions.ts'
import type { Engine, Target } from '../cache/engine.ts'
import { BreakwaterError, invalidOption } from '../core/errors.ts'
import { shortenedPrefix } from '../core/keys.ts'
import type { Label } from '../core/labels.ts'
import type { BusMessage, EntryMessage } from '../ports.ts'
import { Agenda } from './agenda.ts'
import { Asking } from './asking.ts'
import { Crew } from './crew.ts'
import { cronSchedule } from './cron.ts'
import type { Hands } from './plan.ts'
import { Precomputed } from './precomputed.ts'

export const refreshAhead: AheadFactory = {
  cron: cronSchedule,
  make: (engine, how) => {
    const ahead = new RefreshAhead(engine, how)
    engine.companions.add(ahead)
    return ahead
  },
}

/** What makes the values of one definition, or asks those who do. */
export interface Made {
  readonly late: NonNullable<CompanionHealth['late']>
  /** A request of this process found nothing fresh. */
  ask(target: Target, found: Found): void
  changed(key: string): void
  changedByTag(labels: readonly Label[]): void
  heed(message: EntryMessage): void
  /** The store is gone, or there again; of a cluster, a part of it. */
  onStore(state: 'gone' | 'back'): void
}

/**
 * Leaves the making of a cache's values to something else (a queue of jobs), for definitions that are
 * there and that are still to come. The cache itself must take no part.
 */
export function makeBy(
  cache: Cache,
  make: (hands: Hands, definition: AheadDefinition) => Made,
  caller: string,
): void {
  const ahead = engineOf(cache)?.ahead
  if (!(ahead instanceof RefreshAhead)) {
    throw invalidOption(
      `${caller}.cache`,
      'a cache that createCache() gave, with enabled: true',
      cache,
    )
  }
  ahead.makeBy(make, caller)
}

class RefreshAhead implements Ahead, Companion {
  readonly #engine: Engine
  readonly #takesPart: boolean
  readonly #agenda: Agenda
  readonly #hands: Hands
  readonly #byName = new Map<string, Made>()
  readonly #byPrefix = new Map<string, Made>()
  readonly #definitions: AheadDefinition[] = []
  #make: (hands: Hands, definition: AheadDefinition) => Made
  #unlisten: (() => void) | undefined

  constructor(engine: Engine, how: { readonly takesPart: boolean; readonly id: string }) {
    this.#engine = engine
    this.#takesPart = how.takesPart
    this.#make = how.takesPart
      ? (hands, definition) => new Precomputed(hands, definition)
      : (hands, definition) => new Asking(hands, definition)
    this.#agenda = new Agenda(engine.clock, (run) => engine.detached(run))
    const crew = new Crew(engine, this.#agenda)
    this.#hands = { engine, agenda: this.#agenda, crew, ownTokens: how.id }
  }

  add(definition: AheadDefinition): void {
    this.#definitions.push(definition)
    this.#put(definition)
    this.#unlisten ??= this.#engine.listeners.on('breaker', ({ state }) => {
      for (const made of this.#byName.values()) made.onStore(state === 'open' ? 'gone' : 'back')
    })
  }

  makeBy(make: (hands: Hands, definition: AheadDefinition) => Made, caller: string): void {
    if (this.#takesPart) {
      throw new BreakwaterError(
        'INVALID_OPTION',
        `${caller}.cache: expected a cache with precompute: false, else its values were made twice`,
      )
    }
    this.#make = make
    for (const definition of this.#definitions) this.#put(definition)
  }

  #put(definition: AheadDefinition): void {
    const { prefix, source } = definition
    const made = this.#make(this.#hands, definition)
    this.#byName.set(source.name, made)
    this.#byPrefix.set(prefix, made)
    // Of a long key no more than this is left; of a long name, or version, not even that.
    const shortened = shortenedPrefix(prefix)
    if (shortened !== undefined) this.#byPrefix.set(shortened, made)
  }

  ask(target: Target, found: Found): void {
    const made = this.#byName.get(target.source.name)
    // What it sets off is not the request's own.
    if (made !== undefined) this.#engine.detached(() => made.ask(target, found))
  }

  changed(key: string): void {
    const made = this.#of(key)
    if (made !== undefined) this.#engine.detached(() => made.changed(key))
  }

  changedByTag(labels: readonly Label[]): void {
    if (this.#byPrefix.size === 0) return
    this.#engine.detached(() => {
      for (const made of this.#byName.values()) made.changedByTag(labels)
    })
  }

  heed(message: BusMessage): void {
    if (!('key' in message)) return
    this.#of(message.key)?.heed(message)
  }

  health(): CompanionHealth {
    const late = [...this.#byName.values()].flatMap((made) => made.late)
    return { late, isWell: late.length === 0 }
  }

  close(): void {
    this.#agenda.close()
    this.#hands.crew.close()
    this.#unlisten?.()
  }

  /** By what its key begins with, which is `r:`, the name, and a colon. */
  #of(key: string): Made | undefined {
    // At every change and message, and most caches make nothing ahead.
    if (this.#byPrefix.size === 0) return undefined
    const end = key.indexOf(':', 2)
    return this.#byPrefix.get(key.slice(0, end + 1))
  }
}
