/**
 * What processes that share filters hear of each other: one subscriber connection for all guards of
 * one client, opened with the first that needs it and closed with the last. It proves its own ears:
 * a beat goes to itself through each master, and what was proven longer ago than two beats is not.
 */
import { randomBytes } from 'node:crypto'
import type { Clock } from '../ports.ts'
import type { RedisConnection, Subscribed } from '../redis/commands.ts'
import { readMessage, type GuardMessage } from './guard-message.ts'

export interface GuardEars {
  onMessage(message: GuardMessage): void
  /** True: all that is told from now on is heard. False: something may have been missed. */
  onHearing(hears: boolean): void
}

export interface Hearing {
  /** Proven lately enough. */
  hears(): boolean
  close(): Promise<void>
}

export function channelOf({ commands }: RedisConnection): string {
  return `bw-guard:${commands.db}:${commands.keyPrefix}`
}

const buses = new WeakMap<object, GuardBus>()

export interface BusOptions {
  readonly connection: RedisConnection
  readonly clock: Clock
  readonly beatMs: number
}

/** `client`: whose it is. */
export function listenOn(client: object, options: BusOptions, ears: GuardEars): Hearing {
  const bus = buses.get(client) ?? new GuardBus(options)
  buses.set(client, bus)
  bus.add(ears)
  return {
    hears: () => bus.hears(),
    close: async () => {
      if (!bus.remove(ears)) return
      if (buses.get(client) === bus) buses.delete(client)
      await bus.close()
    },
  }
}

class GuardBus {
  readonly #options: BusOptions
  readonly #own = `bw-guard@${randomBytes(9).toString('base64url')}`
  readonly #ears = new Set<GuardEars>()
  readonly #subscribed: Subscribed | undefined
  /** By master: when the last beat that came back had been sent. */
  readonly #heardAt = new Map<string, number>()
  #sent = new Map<string, number>()
  #isUp = false
  #hearing = false
  #beat = 0
  #cancelBeat: () => void = () => {}

  constructor(options: BusOptions) {
    this.#options = options
    const { connection, clock } = options
    const channel = channelOf(connection)
    this.#subscribed = connection.subscribe?.({
      channels: [channel, this.#own],
      onMessage: (on, bytes) => {
        if (on === this.#own) return this.#hear(Buffer.from(bytes).toString())
        const message = readMessage(bytes)
        if (message !== undefined) for (const ears of this.#ears) ears.onMessage(message)
      },
      onState: (state) => {
        this.#isUp = state === 'up'
        this.#heardAt.clear()
        this.#sent.clear()
        this.#check()
        if (this.#isUp) this.#send()
      },
      onFault: () => {},
      after: (ms, run) => clock.after(ms, run),
      random: () => clock.random(),
    })
    this.#beatLater()
  }

  add(ears: GuardEars): void {
    this.#ears.add(ears)
    if (this.#hearing) ears.onHearing(true)
  }

  /** Whether it was the last. */
  remove(ears: GuardEars): boolean {
    return this.#ears.delete(ears) && this.#ears.size === 0
  }

  hears(): boolean {
    this.#check()
    return this.#hearing
  }

  async close(): Promise<void> {
    this.#cancelBeat()
    await this.#subscribed?.close()
  }

  #check(): void {
    const now = this.#options.clock.now()
    const { connection, beatMs } = this.#options
    const servers = connection.commands.servers()
    const hearing =
      this.#isUp &&
      servers.length > 0 &&
      servers.every(({ name }) => now - (this.#heardAt.get(name) ?? -Infinity) <= 2 * beatMs)
    if (hearing === this.#hearing) return
    this.#hearing = hearing
    for (const ears of this.#ears) ears.onHearing(hearing)
  }

  #hear(beat: string): void {
    const sentAt = this.#sent.get(beat)
    if (sentAt === undefined) return
    this.#sent.delete(beat)
    this.#heardAt.set(beat.slice(beat.indexOf(' ') + 1), sentAt)
    this.#check()
  }

  #beatLater(): void {
    const { clock, beatMs } = this.#options
    this.#cancelBeat = clock.after(beatMs, () => {
      this.#check()
      this.#send()
      this.#beatLater()
    })
  }

  #send(): void {
    if (!this.#isUp) return
    const { connection, clock, beatMs } = this.#options
    const now = clock.now()
    // What has not come back by now counts as not heard whenever it comes.
    this.#sent = new Map([...this.#sent].filter(([, sentAt]) => now - sentAt <= 2 * beatMs))
    this.#beat += 1
    for (const server of connection.commands.servers()) {
      const beat = `${this.#beat} ${server.name}`
      this.#sent.set(beat, now)
      server.publish(this.#own, Buffer.from(beat)).catch(() => {})
    }
  }
}
