/**
 * The replication protocol on one connection: what comes is given on at once, and what was taken is
 * told to the server, never anything else. Between transactions, with nothing pending, what the
 * server has passed by counts as taken too, so that other tables' log is not held on to.
 *
 * Our own rather than `pg-logical-replication`, which confirms what it has received, by a timer, and
 * answers no keepalive when that is switched off.
 */
import type { Link } from './link.ts'
import { readMessage, type Message } from './pgoutput.ts'
import { quoteName } from './quote.ts'

export interface StreamOptions {
  readonly link: Link
  readonly slot: string
  readonly publication: string
  /** From the slot: nothing below it is ever told. */
  readonly confirmed: bigint
  onMessage(message: Message): void
  /** Nothing that was given on waits to be taken. */
  isIdle(): boolean
  now(): number
}

export class Stream {
  readonly #options: StreamOptions
  #confirmed: bigint
  #received: bigint
  #inTransaction = false

  constructor(options: StreamOptions) {
    this.#options = options
    this.#confirmed = options.confirmed
    this.#received = options.confirmed
  }

  get confirmed(): bigint {
    return this.#confirmed
  }

  /** Resolves when it streams. Rejects with what the server said. Its end is the link's. */
  start(): Promise<void> {
    const { link, slot, publication } = this.#options
    const { wire } = link
    wire.on('copyData', ({ chunk }) => {
      if (!link.isOpen) return
      try {
        this.#read(chunk)
      } catch (error) {
        link.fail(error as Error)
      }
    })
    return new Promise((resolve, reject) => {
      wire.once('replicationStart', resolve)
      const sql =
        `START_REPLICATION SLOT ${quoteName(slot)} LOGICAL 0/0 ` +
        `(proto_version '1', publication_names ${publicationNames(publication)})`
      link.query(sql, undefined, Infinity).then(
        () => link.fail(new Error('the server has ended the replication')),
        (error: unknown) => {
          reject(error as Error)
          link.fail(error as Error)
        },
      )
    })
  }

  /** All up to there has been taken. */
  confirm(lsn: bigint): void {
    if (lsn <= this.#confirmed) return
    this.#confirmed = lsn
    this.tell('here')
  }

  /** `here`: the server's patience begins anew. `answer`: and it is to say something. */
  tell(what: 'here' | 'answer'): void {
    const { link, now } = this.#options
    if (!link.isOpen) return
    const status = Buffer.alloc(34)
    status.write('r')
    status.writeBigUInt64BE(this.#received > this.#confirmed ? this.#received : this.#confirmed, 1)
    status.writeBigUInt64BE(this.#confirmed, 9)
    status.writeBigUInt64BE(this.#confirmed, 17)
    status.writeBigInt64BE(BigInt(Math.trunc(now() - 946_684_800_000)) * 1_000n, 25)
    status.writeUInt8(what === 'answer' ? 1 : 0, 33)
    link.wire.sendCopyFromChunk(status)
  }

  #read(chunk: Buffer): void {
    const kind = String.fromCharCode(chunk[0] ?? 0)
    if (kind === 'w') {
      const message = readMessage(chunk.subarray(25))
      if (message.type === 'begin') this.#inTransaction = true
      this.#options.onMessage(message)
      if (message.type !== 'commit') return
      this.#inTransaction = false
      if (message.end > this.#received) this.#received = message.end
    } else if (kind === 'k') {
      const end = chunk.readBigUInt64BE(1)
      if (!this.#inTransaction) {
        if (end > this.#received) this.#received = end
        if (this.#options.isIdle() && end > this.#confirmed) this.#confirmed = end
      }
      if (chunk[17] === 1) this.tell('here')
    }
  }
}

/** A list of names inside a text. */
function publicationNames(publication: string): string {
  return `'${quoteName(publication).replaceAll("'", "''")}'`
}
