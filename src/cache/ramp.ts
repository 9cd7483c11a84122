/** Operations to a server that has just come back, each sent when it is its turn (core/slow-start.ts). */
import { SlowStart } from '../core/slow-start.ts'
import type { Pending } from './deadlines.ts'

export class Ramp {
  readonly #start = new SlowStart()
  readonly #onOver: () => void

  /** `onOver`: it has as much to do as anybody wants. */
  constructor(onOver: () => void) {
    this.#onOver = onOver
  }

  send<T>(pending: Pending, send: () => Promise<T>): Promise<T> {
    return new Promise((resolve) => {
      this.#start.enter(() => {
        // Too late to be of use.
        if (!pending.isOpen) return this.#start.ended(false)
        const answer = send()
        answer.then(
          () => this.#ended(pending.isOpen),
          () => this.#ended(false),
        )
        resolve(answer)
      })
    })
  }

  #ended(answered: boolean): void {
    this.#start.ended(answered)
    if (this.#start.isOver) this.#onOver()
  }
}
