/**
 * What this process knows of the filter's record, and of the server that keeps it. Read again all
 * the time, and by whoever must know what holds now. Where it is one server, its run id is compared
 * with that of the time when the filter was built: another one (restarted from an older dump, or a
 * replica that took over) may have forgotten what was added, and nobody there can know.
 */
import type { Clock } from '../ports.ts'
import type { RedisCommands } from '../redis/commands.ts'
import { runScript } from '../redis/run-script.ts'
import { scripts } from '../redis/scripts.generated.ts'
import { recordKey } from './epoch.ts'
import type { Pace } from './pace.ts'
import { readRecord, type GuardRecord } from './record.ts'

export interface KeeperOptions {
  readonly commands: RedisCommands
  readonly clock: Clock
  readonly name: string
  readonly pace: Pace
  /** Each time that one was read, unless a later one has been. */
  onRecord(record: GuardRecord): void
}

export class RecordKeeper {
  readonly #options: KeeperOptions
  readonly #unwatch: () => void
  #present: GuardRecord | undefined
  #sharedRead: Promise<GuardRecord> | undefined
  #cancelPoll: () => void = () => {}
  #polling = false
  #closed = false
  /** Counts connections: another server may answer on each. */
  #connection = 1
  #identified = 0
  #server = ''

  constructor(options: KeeperOptions) {
    this.#options = options
    const { commands } = options
    this.#unwatch = commands.watch((ready) => {
      this.#connection += 1
      if (ready) this.poll()
    })
    commands.connect(() => {})
    this.poll()
  }

  /** As it was read last. */
  get present(): GuardRecord | undefined {
    return this.#present
  }

  /** Run id of the one server, where it is one and says so. */
  get server(): string {
    return this.#server
  }

  /** Changes with every connection; what was sent on an earlier one may be answered by another server. */
  get connection(): number {
    return this.#connection
  }

  /** Whether it is known who answers on the present connection. */
  get isIdentified(): boolean {
    const { commands } = this.#options
    if (!commands.ready) return false
    return commands.shards !== undefined || this.#identified === this.#connection
  }

  /** As it is now, or later. Asked once for all who ask in one go. */
  fresh(): Promise<GuardRecord> {
    if (this.#sharedRead === undefined) {
      this.#sharedRead = this.#read()
      queueMicrotask(() => (this.#sharedRead = undefined))
    }
    return this.#sharedRead
  }

  /** The same, with the certainty who has answered: on a connection that still stands. */
  async settled(): Promise<GuardRecord> {
    for (let attempt = 0; attempt < 10; attempt++) {
      const { connection } = this
      const record = await this.fresh()
      if (connection === this.connection && this.isIdentified) return record
    }
    throw new Error('the connection does not last')
  }

  /** Reads it now and from then on again and again. */
  poll(): void {
    if (this.#closed || this.#polling) return
    this.#polling = true
    this.#cancelPoll()
    const again = (): void => {
      this.#polling = false
      if (this.#closed) return
      const { clock, pace } = this.#options
      const ms = Math.ceil(pace.pollMs * (0.75 + clock.random() / 2))
      this.#cancelPoll = clock.after(ms, () => this.poll())
    }
    // A frozen server must not end the polling: the next one is sent beside it.
    let waiting = true
    const once = (): void => {
      if (!waiting) return
      waiting = false
      cancel()
      again()
    }
    const cancel = this.#options.clock.after(this.#options.pace.pollMs, once)
    this.fresh().then(once, once)
  }

  close(): void {
    this.#closed = true
    this.#cancelPoll()
    this.#unwatch()
  }

  async #read(): Promise<GuardRecord> {
    const { commands, clock, name } = this.#options
    const askedAt = clock.now()
    const connection = this.#connection
    const isKnown = commands.shards !== undefined || this.#identified === connection
    const [reply, server] = await Promise.all([
      runScript(commands, scripts.guardRead, { keys: [recordKey(name)], args: [] }),
      isKnown ? this.#server : runIdOf(commands),
    ])
    const record = readRecord(reply, askedAt)
    if (this.#closed) return record
    if (connection === this.#connection) {
      this.#server = server
      this.#identified = connection
    }
    if (askedAt >= (this.#present?.askedAt ?? -Infinity)) {
      this.#present = record
      this.#options.onRecord(record)
    }
    return record
  }
}

async function runIdOf(commands: RedisCommands): Promise<string> {
  const [server] = commands.servers()
  if (server === undefined) throw new Error('no server is known')
  try {
    return /^run_id:(\S+)/m.exec(await server.info('server'))?.[1] ?? ''
  } catch (error) {
    // Who may not ask cannot compare.
    if (/^NOPERM|unknown command/i.test((error as Error).message)) return ''
    throw error
  }
}
