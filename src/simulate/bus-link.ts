/**
 * A process's subscription: its own connection, over which messages come in the order in which they
 * were sent, as long as it lives. It may be dead without anybody knowing; then beats must find out.
 */
import type { BusMessage } from '../ports.ts'
import type { Host } from './host.ts'
import type { Random } from './random.ts'
import type { Server } from './server.ts'
import type { Timeline } from './timeline.ts'
import { Wire, type Weather } from './wire.ts'

export interface BusLinkOptions {
  readonly client: number
  readonly host: Host
  readonly timeline: Timeline
  readonly random: Random
  readonly weather: Weather
  readonly server: Server
  onBus(state: 'up' | 'down'): void
  onMessage(message: BusMessage, sentAt: number): void
}

export class BusLink {
  unreachableUntil = 0
  readonly wire: Wire
  readonly #options: BusLinkOptions
  #isUp = false
  #isClosed = false

  constructor(options: BusLinkOptions) {
    this.#options = options
    this.wire = new Wire(options.timeline, options.random, options.weather)
  }

  /** The server tells. */
  push(message: BusMessage): void {
    if (!this.#isUp) return
    const { host, timeline, onMessage } = this.#options
    const { wire } = this
    const { connection } = wire
    const sentAt = timeline.now
    wire.send('back', () => {
      if (connection !== wire.connection) return
      host.deliver('input', () => {
        if (connection === wire.connection && !this.#isClosed) onMessage(message, sentAt)
      })
    })
  }

  connectLater(ms = this.#options.random.between(1, 20)): void {
    const { timeline, host, server, random } = this.#options
    timeline.after(ms, () => {
      if (this.#isClosed || this.#isUp || host.isCrashed) return
      const isIdle = server.isGone || server.isFrozen || host.isPaused
      if (isIdle || timeline.now < this.unreachableUntil) {
        return this.connectLater(random.between(30, 200))
      }
      // Subscribed from now on; that it is arrives before the first message.
      this.#isUp = true
      this.wire.renew()
      this.#tell('up')
    })
  }

  cut(): void {
    if (!this.#isUp) return
    const { host, random, onBus } = this.#options
    this.#isUp = false
    this.wire.renew()
    host.deliver('input', () => {
      if (!this.#isClosed) onBus('down')
    })
    this.connectLater(random.between(20, 200))
  }

  silence(): void {
    if (this.#isUp) this.wire.isSilent = true
  }

  /** What was dead is found to be dead. */
  notice(): void {
    if (this.wire.isSilent) this.cut()
  }

  close(): void {
    this.#isClosed = true
    this.#isUp = false
    this.wire.renew()
  }

  #tell(state: 'up'): void {
    const { host, onBus } = this.#options
    const { wire } = this
    const { connection } = wire
    wire.send('back', () => {
      if (connection !== wire.connection) return
      host.deliver('input', () => {
        if (connection === wire.connection && !this.#isClosed) onBus(state)
      })
    })
  }
}
