/** A definition in a process that does not load: what is missing becomes a job, or is asked over the bus. */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Target } from '../cache/engine.ts'
import type { BusMessage } from '../ports.ts'
import type { Made } from '../refresh/ahead.ts'
import { Asking } from '../refresh/asking.ts'
import type { Hands } from '../refresh/plan.ts'
import type { Asks } from './asks.ts'

export class Asked implements Made {
  readonly late = []
  readonly #definition: AheadDefinition
  readonly #asks: Asks
  readonly #bystander: Asking

  constructor(hands: Hands, definition: AheadDefinition, asks: Asks) {
    this.#definition = definition
    this.#asks = asks
    this.#bystander = new Asking(hands, definition)
  }

  ask(target: Target): void {
    // The cache's own Redis may be there still, and a worker that hears of it.
    this.#asks.ask(this.#definition, target, () => this.#bystander.ask(target))
  }

  heed(message: BusMessage): void {
    this.#bystander.heed(message)
  }

  changed(): void {}

  changedByTag(): void {}

  onStore(): void {}
}
