/**
 * Reads pgoutput's messages, protocol version 1: whole transactions, at their commit, in the order of
 * commits ("Logical Replication Message Formats" of PostgreSQL's manual). Values stay bytes until
 * somebody wants them. What cannot be read throws, and the stream ends unconfirmed.
 */
import type { Cell, Column } from './rows.ts'

export interface Relation {
  readonly oid: number
  readonly schema: string
  readonly table: string
  /** `d` primary key, `i` an index, `f` the whole row, `n` nothing. */
  readonly identity: string
  readonly columns: readonly (Column & { readonly isKey: boolean })[]
}

/** `undefined`: unchanged and lying apart (TOAST), so it is not sent. */
export type Tuple = readonly Cell[]

export type Message =
  | { readonly type: 'begin' }
  | { readonly type: 'commit'; readonly end: bigint; readonly atMs: number }
  | { readonly type: 'relation'; readonly relation: Relation }
  | { readonly type: 'insert'; readonly oid: number; readonly row: Tuple }
  | {
      readonly type: 'update'
      readonly oid: number
      readonly row: Tuple
      readonly old: Tuple | undefined
    }
  | { readonly type: 'delete'; readonly oid: number; readonly old: Tuple }
  | { readonly type: 'truncate'; readonly oids: readonly number[] }
  | { readonly type: 'other' }

export function readMessage(bytes: Buffer): Message {
  const reader = new Reader(bytes)
  const type = reader.letter()
  switch (type) {
    case 'B':
      return { type: 'begin' }
    case 'C': {
      reader.skip(9)
      return { type: 'commit', end: reader.int64(), atMs: postgresMs(reader.int64()) }
    }
    case 'R':
      return { type: 'relation', relation: relation(reader) }
    case 'I': {
      const oid = reader.int32()
      reader.expect('N')
      return { type: 'insert', oid, row: tuple(reader) }
    }
    case 'U': {
      const oid = reader.int32()
      const kind = reader.letter()
      const old = kind === 'K' || kind === 'O' ? tuple(reader) : undefined
      if (old !== undefined) reader.expect('N')
      return { type: 'update', oid, old, row: tuple(reader) }
    }
    case 'D': {
      const oid = reader.int32()
      reader.skip(1)
      return { type: 'delete', oid, old: tuple(reader) }
    }
    case 'T': {
      const count = reader.int32()
      reader.skip(1)
      return { type: 'truncate', oids: Array.from({ length: count }, () => reader.int32()) }
    }
    case 'O': // where a transaction came from
    case 'Y': // what a type is called
    case 'M': // a message of somebody's
      return { type: 'other' }
    default:
      throw new Error(`expected a message of pgoutput, got ${JSON.stringify(type)}`)
  }
}

function relation(reader: Reader): Relation {
  const oid = reader.int32()
  const schema = reader.text() || 'pg_catalog'
  const table = reader.text()
  const identity = reader.letter()
  const columns = Array.from({ length: reader.int16() }, () => {
    const isKey = (reader.byte() & 1) === 1
    const name = reader.text()
    const type = reader.int32()
    reader.skip(4)
    return { isKey, name, type }
  })
  return { oid, schema, table, identity, columns }
}

function tuple(reader: Reader): Tuple {
  return Array.from({ length: reader.int16() }, () => {
    switch (reader.letter()) {
      case 'n':
        return null
      case 't':
        return reader.string(reader.int32())
      case 'u':
        return undefined
      default:
        throw new Error('expected a value as text, got another form')
    }
  })
}

/** Microseconds since 2000 to milliseconds since 1970. */
export function postgresMs(microseconds: bigint): number {
  return Number(microseconds / 1_000n) + 946_684_800_000
}

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  byte(): number {
    this.#at += 1
    return this.#bytes.readUInt8(this.#at - 1)
  }

  letter(): string {
    return String.fromCharCode(this.byte())
  }

  expect(letter: string): void {
    const got = this.letter()
    if (got !== letter) throw new Error(`expected ${letter} in a message of pgoutput, got ${got}`)
  }

  int16(): number {
    this.#at += 2
    return this.#bytes.readUInt16BE(this.#at - 2)
  }

  int32(): number {
    this.#at += 4
    return this.#bytes.readUInt32BE(this.#at - 4)
  }

  int64(): bigint {
    this.#at += 8
    return this.#bytes.readBigUInt64BE(this.#at - 8)
  }

  skip(bytes: number): void {
    this.#at += bytes
  }

  string(bytes: number): string {
    if (this.#at + bytes > this.#bytes.length) throw new Error('expected more of a message')
    this.#at += bytes
    return this.#bytes.toString('utf8', this.#at - bytes, this.#at)
  }

  /** Up to a NUL. */
  text(): string {
    const end = this.#bytes.indexOf(0, this.#at)
    if (end === -1) throw new Error('expected the end of a name')
    const text = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end + 1
    return text
  }
}
