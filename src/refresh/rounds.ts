/** How far a definition has come in its present period: events, made only while somebody listens. */
import type { Engine } from '../cache/engine.ts'
import type { CacheEvents } from '../core/events.ts'

type Phase = CacheEvents['precompute']['phase']

export class Rounds {
  readonly #engine: Engine
  readonly #name: string
  #done = new WeakSet<object>()
  #period: number | undefined
  #keys = 0
  #refreshed = 0
  #failed = 0

  constructor(engine: Engine, name: string) {
    this.#engine = engine
    this.#name = name
  }

  begin(period: number, keys: number): void {
    if (period !== this.#period) {
      if (this.#period !== undefined && this.#refreshed < this.#keys) this.#tell('ended')
      this.#period = period
      this.#done = new WeakSet()
      this.#refreshed = 0
      this.#failed = 0
    }
    this.#keys = keys
    this.#tell('begun')
  }

  /** The same key counts once. Told at each tenth, and at the end. */
  refreshed(key: object): void {
    if (this.#done.has(key)) return
    this.#done.add(key)
    const tenth = Math.max(1, Math.floor(this.#keys / 10))
    if (++this.#refreshed === this.#keys) this.#tell('ended')
    else if (this.#refreshed % tenth === 0) this.#tell('progress')
  }

  failed(): void {
    this.#failed++
  }

  #tell(phase: Phase): void {
    this.#engine.listeners.tell('precompute', () => ({
      name: this.#name,
      phase,
      period: Math.round(this.#period ?? 0),
      keys: this.#keys,
      refreshed: this.#refreshed,
      failed: this.#failed,
    }))
  }
}
