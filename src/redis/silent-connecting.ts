/**
 * Gives up a connection that was accepted and of which nothing came. The clients wait for its first
 * answers without a limit, so one that was made while the network swallowed everything would never
 * be ready, long after a new one would work. While anything comes in it is left alone.
 */
import type { Clock } from '../ports.ts'
import type { RedisCommands } from './commands.ts'

const lookMs = 250
/**
 * In looks, so that a stall of this process counts as one. The second attempt is given longer, in
 * case that the network is slow and no more.
 */
const patience = { first: 4, later: 6 }

export class SilentConnecting {
  readonly #commands: RedisCommands
  readonly #clock: Clock
  #attempt: unknown
  #received = 0
  #looks = 0
  #gaveUp = false
  #patience = patience.first
  #stop: (() => void) | undefined

  constructor(commands: RedisCommands, clock: Clock) {
    this.#commands = commands
    this.#clock = clock
    this.ready(commands.ready)
  }

  ready(isReady: boolean): void {
    this.#stop?.()
    this.#stop = undefined
    if (isReady) this.#patience = patience.first
    else this.#look()
  }

  close(): void {
    this.#stop?.()
  }

  #look(): void {
    const { connecting, received } = this.#commands
    if (connecting === undefined) return
    // It has waited long enough: the client's own pause, which grows with each attempt, is spared.
    if (this.#gaveUp) connecting.hurry?.()
    this.#gaveUp = false
    const attempt = connecting.attempt()
    if (attempt !== this.#attempt || received !== this.#received) {
      this.#attempt = attempt
      this.#received = received
      this.#looks = 0
    } else if (attempt !== undefined && ++this.#looks >= this.#patience) {
      this.#patience = patience.later
      connecting.giveUp()
      this.#gaveUp = true
    }
    this.#stop = this.#clock.after(lookMs, () => this.#look())
  }
}
