/** A definition that others make ahead: what is missing here is asked of them, over the bus. */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import type { BusMessage } from '../ports.ts'
import { fetchNewer } from './newer.ts'
import type { Hands } from './plan.ts'
import { toldFailure } from './told-failure.ts'

/** A key is not asked for again before. */
const quietMs = 100
const mostRemembered = 10_000

export class Asking {
  readonly late = []
  readonly #hands: Hands
  readonly #definition: AheadDefinition
  readonly #askedAt = new Map<string, number>()

  constructor(hands: Hands, definition: AheadDefinition) {
    this.#hands = hands
    this.#definition = definition
  }

  ask({ key }: Target): void {
    const { engine } = this.#hands
    const now = engine.clock.now()
    const askedAt = this.#askedAt.get(key)
    if (askedAt !== undefined && now < askedAt + quietMs) return
    if (engine.store?.isUp(key) !== true) return
    if (this.#askedAt.size >= mostRemembered) this.#askedAt.clear()
    this.#askedAt.set(key, now)
    const id = engine.newToken()
    const told = engine.store.call('want', key, (session) => session.want(key, id))
    // Lost on the way: whoever waits asks again.
    void engine.background.track(told.catch(() => {}))
  }

  heed(message: BusMessage): void {
    if (message.type === 'failed') toldFailure(this.#hands.engine, this.#definition, message)
    if (message.type !== 'published') return
    this.#askedAt.delete(message.key)
    fetchNewer(this.#hands.engine, this.#definition, message)
  }

  changed(): void {}

  changedByTag(): void {}

  onStore(): void {}
}
