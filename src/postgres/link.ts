/**
 * One connection to PostgreSQL. Nothing on it is waited for without a deadline, its end is one
 * promise that never rejects, and it keeps no process alive once it is up.
 */
import pg from 'pg'
import type { Clock } from '../ports.ts'
import type { PostgresConnection } from './option-types.ts'

/** What pg keeps to itself, and streaming cannot do without. */
export interface Wire {
  readonly stream: { destroy(): void; readonly writableLength: number }
  on(event: 'copyData', listener: (message: { chunk: Buffer }) => void): void
  once(event: 'replicationStart', listener: () => void): void
  sendCopyFromChunk(bytes: Buffer): void
}

export interface LinkOptions {
  readonly connection: PostgresConnection
  readonly clock: Clock
  readonly deadlineMs: number
  readonly name: string
  readonly replication?: boolean
}

export type Row = Readonly<Record<string, unknown>>

export class Link {
  readonly #client: pg.Client
  readonly #options: LinkOptions
  /** Resolves with why, and never rejects. */
  readonly ended: Promise<Error>
  #end!: (why: Error) => void
  #failure: Error | undefined
  /** What is waited for: told of the end one by one, since `ended` would remember all there ever were. */
  readonly #waiting = new Set<(why: Error) => void>()
  #last: Promise<void> = Promise.resolve()

  private constructor(client: pg.Client, options: LinkOptions) {
    this.#client = client
    this.#options = options
    this.ended = new Promise((resolve) => (this.#end = resolve))
    client.on('error', (error) => this.fail(error))
    client.on('end', () => this.fail(new Error('the connection was closed')))
  }

  static async open(options: LinkOptions): Promise<Link> {
    const { connection, deadlineMs, name, replication } = options
    const given = typeof connection === 'string' ? { connectionString: connection } : connection
    const client = new pg.Client({
      application_name: `breakwater ${name}`,
      keepAlive: true,
      ...given,
      connectionTimeoutMillis: deadlineMs,
      ...(replication === true ? { replication: 'database' } : {}),
    } as pg.ClientConfig)
    const link = new Link(client, options)
    try {
      await link.within(client.connect(), 'to connect', deadlineMs)
      // Before anything else is said: its stream is there only now.
      ;(client as unknown as { unref(): void }).unref()
      return link
    } catch (error) {
      link.fail(error as Error)
      throw error
    }
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  get wire(): Wire {
    return (this.#client as unknown as { connection: Wire }).connection
  }

  /** Of the server's process. */
  get pid(): number {
    return (this.#client as unknown as { processID: number }).processID
  }

  onNotification(listener: (channel: string, payload: string) => void): void {
    this.#client.on('notification', ({ channel, payload }) => listener(channel, payload ?? ''))
  }

  /** Rows as texts and `null`s where the query casts them so. `deadlineMs`: `Infinity` for none. */
  async query(
    sql: string,
    values?: readonly unknown[],
    deadlineMs = this.#options.deadlineMs,
  ): Promise<readonly Row[]> {
    // One after the other: what waits has not begun, and its time has not either.
    const before = this.#last
    const asked = before.then(async () => {
      if (this.#failure !== undefined) throw this.#failure
      const answer =
        values === undefined ? this.#client.query(sql) : this.#client.query(sql, [...values])
      return this.within(answer, 'to answer', deadlineMs)
    })
    this.#last = asked.then(
      () => {},
      () => {},
    )
    const { rows } = await asked
    return (rows ?? []) as Row[]
  }

  /** At once, without a word: a server that does not listen is not told. */
  fail(why: Error): void {
    if (this.#failure !== undefined) return
    this.#failure = why
    this.#end(why)
    for (const reject of this.#waiting) reject(why)
    this.#waiting.clear()
    try {
      this.wire.stream.destroy()
    } catch {
      // It never had one.
    }
  }

  /** Ends it as the protocol wants it, so that locks and slots are free at once. */
  async close(): Promise<void> {
    if (this.#failure !== undefined) return
    await this.within(this.#client.end(), 'to end', 500).catch(() => {})
    this.fail(new Error('the connection was closed'))
  }

  /** Rejects when the connection ends, and ends it when the deadline has passed. */
  within<T>(work: Promise<T>, what: string, ms = this.#options.deadlineMs): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = (): void => this.fail(new Error(`PostgreSQL took longer than ${ms} ms ${what}`))
      const stop = ms === Infinity ? () => {} : this.#options.clock.after(ms, late)
      const over = (): void => {
        stop()
        this.#waiting.delete(failed)
      }
      const failed = (why: Error): void => {
        over()
        reject(why)
      }
      this.#waiting.add(failed)
      work.then((result) => {
        over()
        resolve(result)
      }, failed)
      if (this.#failure !== undefined) failed(this.#failure)
    })
  }
}

/** The five characters of an error that the server sent; `undefined`: it sent none. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}
