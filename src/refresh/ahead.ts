/**
 * Values made before anyone asks, for one cache: its definitions, and the messages that concern them.
 * A process that takes no part makes nothing, and asks those that do.
 */
import type { Ahead, AheadDefinition, AheadFactory } from '../cache/ahead.ts'
import type { Companion, CompanionHealth } from '../cache/companions.ts'
import type { Engine, Target } from '../cache/engine.ts'
import type { BusMessage } from '../ports.ts'
import { Agenda } from './agenda.ts'
import { Asking } from './asking.ts'
import { Crew } from './crew.ts'
import { cronSchedule } from './cron.ts'
import { Precomputed, type Hands } from './precomputed.ts'

export const refreshAhead: AheadFactory = {
  cron: cronSchedule,
  make: (engine, how) => {
    const ahead = new RefreshAhead(engine, how)
    engine.companions.add(ahead)
    return ahead
  },
}

class RefreshAhead implements Ahead, Companion {
  readonly #engine: Engine
  readonly #takesPart: boolean
  readonly #agenda: Agenda
  readonly #hands: Hands
  readonly #byPrefix = new Map<string, Precomputed | Asking>()
  #unlisten: (() => void) | undefined

  constructor(engine: Engine, how: { readonly takesPart: boolean; readonly id: string }) {
    this.#engine = engine
    this.#takesPart = how.takesPart
    this.#agenda = new Agenda(engine.clock, (run) => engine.detached(run))
    const crew = new Crew(engine, this.#agenda)
    this.#hands = { engine, agenda: this.#agenda, crew, ownTokens: how.id }
  }

  add(definition: AheadDefinition): void {
    const { prefix } = definition
    const made = this.#takesPart
      ? new Precomputed(this.#hands, definition)
      : new Asking(this.#hands, definition)
    this.#byPrefix.set(prefix, made)
    this.#unlisten ??= this.#engine.listeners.on('breaker', ({ state }) => {
      if (state === 'closed') for (const known of this.#byPrefix.values()) known.recovered()
    })
  }

  ask(target: Target): void {
    this.#of(target.key)?.ask(target)
  }

  heed(message: BusMessage): void {
    if (this.#byPrefix.size === 0 || message.type === 'beat') return
    if (message.type === 'bumped') {
      for (const made of this.#byPrefix.values()) made.heed(message)
    } else this.#of(message.key)?.heed(message)
  }

  health(): CompanionHealth {
    const late = [...this.#byPrefix.values()].flatMap((made) => made.late)
    return { late, isWell: late.length === 0 }
  }

  close(): void {
    this.#agenda.close()
    this.#unlisten?.()
  }

  /** By what its key begins with, which is `r:`, the name, and a colon. */
  #of(key: string): Precomputed | Asking | undefined {
    const end = key.indexOf(':', 2)
    return this.#byPrefix.get(key.slice(0, end + 1))
  }
}
