/**
 * Tells who asks over the bus (`breakwater/admin`, the command `breakwater top`) of this process: its
 * health, its counters by definition, who waits. Nothing is done while nobody asks, and however often
 * or by however many it is asked, it tells once per half second, a few of them, in bounded size.
 */
import type { Health } from '../api.ts'
import type { Counters } from '../core/events.ts'
import type { Engine } from './engine.ts'
import type { ProcessName, Told } from './told.ts'

const leastPauseMs = 500
/** Of a fleet, not all in the same millisecond. */
const spreadMs = 50
const mostAskers = 4
const mostDefinitions = 100

export class Presence {
  readonly #engine: Engine
  readonly #of: PresenceOf
  readonly #begunAt: number
  readonly #askers = new Set<string>()
  #toldAt = -Infinity
  #stop: (() => void) | undefined

  constructor(engine: Engine, of: PresenceOf) {
    this.#engine = engine
    this.#of = of
    this.#begunAt = engine.clock.now()
  }

  /** By whom: the id of a session. */
  called(asker: string): void {
    const { clock, state } = this.#engine
    if (state === 'closed' || this.#askers.size >= mostAskers) return
    this.#askers.add(asker)
    if (this.#stop !== undefined) return
    const pauseMs = Math.max(0, this.#toldAt + leastPauseMs - clock.now())
    this.#stop = clock.after(Math.ceil(pauseMs + clock.random() * spreadMs), () => this.#tell())
  }

  close(): void {
    this.#stop?.()
  }

  #tell(): void {
    const { clock, store, background } = this.#engine
    const askers = [...this.#askers]
    this.#askers.clear()
    this.#stop = undefined
    this.#toldAt = clock.now()
    const text = JSON.stringify(this.#told())
    for (const asker of askers) {
      const told = store?.evenSo('present', undefined, async (session) =>
        session.present?.(asker, text),
      )
      if (told !== undefined) void background.track(told.catch(() => {}))
    }
  }

  #told(): Told {
    const { id, clock } = this.#engine
    const { process, counters, health } = this.#of
    const { status, store, bus, loads, limit } = health()
    const names = Object.keys(counters).sort((a, b) => asked(counters[b]!) - asked(counters[a]!))
    const now = this.#present()
    return {
      ...process,
      id,
      uptimeMs: Math.round(clock.now() - this.#begunAt),
      status,
      store,
      bus,
      loads: { ...loads, limit: limit.concurrency, abandoned: limit.abandoned },
      definitions: Object.fromEntries(
        names
          .slice(0, mostDefinitions)
          .map((name) => [name, { ...nonZero(counters[name]!), ...now.get(name) }]),
      ),
      left: Math.max(0, names.length - mostDefinitions),
    }
  }

  #present(): Map<string, { waiting: number; loading: number }> {
    const by = new Map<string, { waiting: number; loading: number }>()
    for (const { work, callers, phase, over } of this.#engine.flights) {
      const { name } = work.target.source
      const sum = by.get(name) ?? { waiting: 0, loading: 0 }
      sum.waiting += callers
      if (phase === 'load' && !over) sum.loading++
      by.set(name, sum)
    }
    return by
  }
}

export interface PresenceOf {
  readonly process: ProcessName
  readonly counters: Readonly<Record<string, Counters>>
  health(): Health
}

function asked(of: Counters): number {
  return of.hitMemory + of.hitStore + of.stale + of.loaded + of.waited + of.failed
}

function nonZero(counters: Counters): Partial<Counters> {
  return Object.fromEntries(Object.entries(counters).filter(([, count]) => count !== 0))
}
