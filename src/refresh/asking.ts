/** A definition that others make ahead: what is missing here is asked of them, over the bus. */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import type { BusMessage } from '../ports.ts'
import { fetchNewer } from './newer.ts'
import type { Hands } from './plan.ts'
import { Quiet } from './quiet.ts'
import { toldFailure } from './told-failure.ts'

export class Asking {
  readonly late = []
  readonly #hands: Hands
  readonly #definition: AheadDefinition
  readonly #quiet = new Quiet()

  constructor(hands: Hands, definition: AheadDefinition) {
    this.#hands = hands
    this.#definition = definition
  }

  ask({ key }: Target): void {
    const { engine } = this.#hands
    if (engine.store?.isUp(key) !== true || !this.#quiet.ends(key, engine.clock.now())) return
    const id = engine.newToken()
    const told = engine.store.call('want', key, (session) => session.want(key, id))
    // Lost on the way: whoever waits asks again.
    void engine.background.track(told.catch(() => {}))
  }

  heed(message: BusMessage): void {
    if (message.type === 'failed') toldFailure(this.#hands.engine, this.#definition, message)
    if (message.type !== 'published') return
    this.#quiet.forget(message.key)
    fetchNewer(this.#hands.engine, this.#definition, message)
  }

  changed(): void {}

  changedByTag(): void {}

  onStore(): void {}
}
