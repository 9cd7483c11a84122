/**
 * A process's connection for commands, with the client that keeps it: it connects, loses the
 * connection, connects again, and either gives up what was unanswered or sends it once more.
 */
import type { Host } from './host.ts'
import type { Random } from './random.ts'
import type { Operation, Server } from './server.ts'
import type { Timeline } from './timeline.ts'
import { Wire, type Weather } from './wire.ts'

interface Request {
  readonly operation: Operation
  readonly args: readonly unknown[]
  readonly settle: (result: Promise<unknown>) => void
  connection: number
  /** Of an earlier connection: it never came to the server. */
  isLost: boolean
  isOver: boolean
}

/** What a client does with requests that it cannot send, or whose answer it lost. */
export interface ClientManners {
  readonly resends: boolean
  readonly queuesOffline: boolean
}

export interface CommandLinkOptions {
  readonly client: number
  readonly host: Host
  readonly timeline: Timeline
  readonly random: Random
  readonly weather: Weather
  readonly manners: ClientManners
  readonly server: Server
  onReady(ready: boolean): void
}

export class CommandLink {
  isUp = false
  received = 0
  /** Nobody answers connections before then. */
  unreachableUntil = 0
  readonly wire: Wire
  readonly #options: CommandLinkOptions
  readonly #open = new Set<Request>()
  #isClosed = false

  constructor(options: CommandLinkOptions) {
    this.#options = options
    this.wire = new Wire(options.timeline, options.random, options.weather)
  }

  request(operation: Operation, args: readonly unknown[]): Promise<unknown> {
    const { manners } = this.#options
    if (!this.isUp && !manners.queuesOffline) return Promise.reject(lost())
    return new Promise<unknown>((resolve) => {
      const request = {
        operation,
        args,
        settle: resolve,
        connection: 0,
        isLost: false,
        confirmedTo: undefined,
        isOver: false,
      }
      this.#open.add(request)
      if (this.isUp) this.#send(request)
    })
  }

  connectLater(ms = this.#options.random.between(1, 20)): void {
    const { timeline, host, server, random } = this.#options
    timeline.after(ms, () => {
      if (this.#isClosed || this.isUp || host.isCrashed) return
      if (server.isGone || timeline.now < this.unreachableUntil || host.isPaused) {
        return this.connectLater(random.between(30, 200))
      }
      host.deliver('input', () => this.#connected())
    })
  }

  /** The connection breaks, and the client knows. */
  cut(): void {
    if (!this.isUp) return
    const { host, manners, random, onReady } = this.#options
    this.isUp = false
    this.wire.renew()
    let isLost = false
    for (const request of this.#open) {
      isLost ||= random.chance(0.5)
      request.isLost = isLost
    }
    host.deliver('input', () => {
      onReady(false)
      if (manners.resends) return
      for (const request of this.#open) this.#end(request, Promise.reject(lost()))
    })
    this.connectLater(random.between(20, 200))
  }

  /** Dead, and nobody knows. */
  silence(): void {
    if (this.isUp) this.wire.isSilent = true
  }

  /** What was dead is found to be dead. */
  notice(): void {
    if (this.wire.isSilent) this.cut()
  }

  close(): void {
    this.#isClosed = true
  }

  #connected(): void {
    if (this.isUp || this.#isClosed) return
    this.isUp = true
    this.wire.renew()
    this.#options.onReady(true)
    for (const request of this.#open) {
      // What `onReady` has set off is sent already.
      if (request.connection !== this.wire.connection) this.#send(request)
    }
  }

  #send(request: Request): void {
    const { client, host, server } = this.#options
    const { wire } = this
    const { connection } = wire
    const { operation, args } = request
    request.connection = connection
    request.isLost = false
    wire.send('there', () => {
      if (connection !== wire.connection && request.isLost) return
      server.receive({ client, operation, args }, (result) => {
        const back = (): void => {
          if (connection !== wire.connection) return
          wire.send('back', () => {
            if (connection !== wire.connection) return
            host.deliver('input', () => {
              if (connection !== wire.connection) return
              this.received++
              this.#end(request, result)
            })
          })
        }
        result.then(back, back)
      })
    })
  }

  #end(request: Request, result: Promise<unknown>): void {
    if (request.isOver) {
      result.catch(() => {})
      return
    }
    request.isOver = true
    this.#open.delete(request)
    request.settle(result)
  }
}

function lost(): Error {
  return new Error('the connection is closed')
}
