/**
 * MessagePack decoded piece by piece. What is longer than a piece (an array, a record, a Map …) is
 * built here, child by child; runs of shorter children are decoded by msgpackr in one go, with the
 * shapes of records that were defined before them. The scan knows where each child ends; it has been
 * over the whole before, so that nothing here meets what is not of our making.
 */
import { Unpackr } from 'msgpackr'
import type { InPieces } from '../ports.ts'
import { deepFreeze } from '../core/freeze.ts'
import { memoryInSteps } from '../core/memory.ts'
import { marks, options, tagOf } from './msgpack-format.ts'
import { malformed, Scan, u16, u32 } from './msgpack-scan.ts'
import { revive } from './revive.ts'

/** About a millisecond's worth. */
export const pieceLength = 64 * 1024
/** Our encoder goes 1,000 levels down, each of which is three arrays at most. */
const maxDepth = 3_100

export interface Pieces {
  readonly how: InPieces
  /** Whether there is anything to revive, or to freeze by a walk. */
  readonly marked: boolean
  readonly maps: boolean
  readonly length: number
}

export function decodePieces(bytes: Buffer, pieces: Pieces): Promise<unknown> {
  return new Decoding(bytes, pieces).value(pieces.how.frozen, 0)
}

class Decoding {
  readonly #pieces: Pieces
  readonly #scan: Scan
  readonly #bytes: Buffer
  /** By id. The arrays stay the same ones: msgpackr hangs on them what it has compiled. */
  readonly #shapes: string[][] = []
  readonly #copy: Buffer
  #unpackr: Unpackr | undefined
  #known = 0

  constructor(bytes: Buffer, pieces: Pieces) {
    this.#pieces = pieces
    this.#bytes = bytes
    this.#scan = new Scan(bytes)
    this.#scan.definitions = []
    this.#copy = Buffer.allocUnsafeSlow(pieces.length + 5)
  }

  /** The next value, which is longer than a piece. */
  async value(frozen: boolean, depth: number): Promise<unknown> {
    if (depth > maxDepth) throw malformed('too deep')
    // Each level is called by the one above: without this, the stack would end at some depth.
    if (depth % 64 === 63) await Promise.resolve()
    const bytes = this.#bytes
    const scan = this.#scan
    const token = bytes[scan.at++]!
    if (token === 0x93 && bytes[scan.at] === 0xc1) return this.#mark(frozen, depth)
    if (token === 0xd4 && bytes[scan.at] !== 0) {
      scan.define()
      const { id } = scan.definitions!.at(-1)!
      this.#learn()
      return this.#record(this.#shapes[id]!, frozen, depth)
    }
    if (token < 0x80 && token >= 0x40) {
      return this.#record(this.#shapes[token & 0x3f]!, frozen, depth)
    }
    if (token < 0x90 && token >= 0x80) return this.#map(token & 0x0f, frozen, depth)
    if (token < 0xa0 && token >= 0x90) return this.#array(token & 0x0f, frozen, depth)
    switch (token) {
      case 0xdc:
        return this.#array(this.#u16(), frozen, depth)
      case 0xdd:
        return this.#array(this.#u32(), frozen, depth)
      case 0xde:
        return this.#map(this.#u16(), frozen, depth)
      case 0xdf:
        return this.#map(this.#u32(), frozen, depth)
      case 0xc5:
        return this.#copied(this.#u16())
      case 0xc6:
        return this.#copied(this.#u32())
      default:
        return this.#whole(--scan.at)
    }
  }

  async #array(length: number, frozen: boolean, depth: number): Promise<unknown> {
    const list: unknown[] = []
    await this.#items(length, frozen, depth, (item) => list.push(item))
    return frozen ? Object.freeze(list) : list
  }

  async #record(names: readonly string[], frozen: boolean, depth: number): Promise<unknown> {
    const record: Record<string, unknown> = {}
    let i = 0
    await this.#items(names.length, frozen, depth, (field) => put(record, names[i++]!, field))
    return frozen ? Object.freeze(record) : record
  }

  async #map(length: number, frozen: boolean, depth: number): Promise<unknown> {
    const record: Record<string, unknown> = {}
    let name: unknown
    let i = 0
    await this.#items(length * 2, frozen, depth, (item) => {
      if (i++ % 2 === 1) put(record, name as string, item)
      else if (typeof item === 'string') name = item
      else throw malformed('a name that is no text')
    })
    return frozen ? Object.freeze(record) : record
  }

  async #mark(frozen: boolean, depth: number): Promise<unknown> {
    const scan = this.#scan
    const code = this.#bytes[scan.at + 1]
    const tag = tagOf(code)
    scan.at += 2
    // Freezing goes into records, Maps and Sets; what an Error carries, it does not reach.
    const reached = tag === 'map' || tag === 'set' || tag === 'object'
    const data = await this.#any(frozen && reached, depth + 1)
    const value = marks.unmark(code!, data)
    return frozen && tag === 'object' ? Object.freeze(value) : value
  }

  async #any(frozen: boolean, depth: number): Promise<unknown> {
    let found: unknown
    await this.#items(1, frozen, depth, (value) => (found = value))
    return found
  }

  async #items(
    count: number,
    frozen: boolean,
    depth: number,
    put: (item: unknown) => void,
  ): Promise<void> {
    const scan = this.#scan
    let left = count
    while (left > 0) {
      const from = scan.at
      const end = Math.min(from + this.#pieces.length, this.#bytes.length)
      let many = 0
      while (many < left && scan.skip(end)) many++
      if (many > 0) for (const item of this.#run(from, many, frozen)) put(item)
      else put(await this.value(frozen, depth + 1))
      left -= Math.max(many, 1)
      const due = this.#pieces.how.pause()
      if (due !== undefined) await due
    }
  }

  /** So many short values from there to where the scan is, as the elements of one array. */
  #run(from: number, many: number, frozen: boolean): unknown[] {
    const copy = this.#copy
    copy[0] = 0xdd
    copy.writeUInt32BE(many, 1)
    const length = this.#bytes.copy(copy, 5, from, this.#scan.at)
    const list = this.#unpacked(copy.subarray(0, 5 + length)) as unknown[]
    this.#learn()
    if (this.#pieces.marked) for (let i = 0; i < many; i++) list[i] = revive(list[i], marks)
    if (frozen && !this.#freezes) for (const item of list) deepFreeze(item)
    return list
  }

  /** Text that is longer than a piece. */
  #whole(from: number): unknown {
    this.#scan.skip(this.#bytes.length)
    return this.#unpacked(this.#bytes.subarray(from, this.#scan.at))
  }

  async #copied(length: number): Promise<Buffer> {
    const from = this.#scan.at
    this.#scan.at += length
    const copy = await memoryInSteps(length, () => this.#pieces.how.pause())
    this.#bytes.copy(copy, 0, from, from + length)
    return copy
  }

  /** Whether msgpackr can freeze as it goes: it does so for records and arrays alone. */
  get #freezes(): boolean {
    return this.#pieces.how.frozen && !this.#pieces.marked && !this.#pieces.maps
  }

  #unpacked(bytes: Buffer): unknown {
    const structures = this.#shapes
    const withShapes = { ...options, useRecords: true, freezeData: this.#freezes }
    this.#unpackr ??= new Unpackr({ ...withShapes, structures: [...structures] })
    return this.#unpackr.unpack(bytes) as unknown
  }

  /** The shapes that the scan has come across since. */
  #learn(): void {
    const definitions = this.#scan.definitions!
    if (definitions.length === this.#known) return
    for (; this.#known < definitions.length; this.#known++) {
      const { id, namesAt } = definitions[this.#known]!
      this.#shapes[id] = this.#namesAt(namesAt)
    }
    this.#unpackr = undefined
  }

  #namesAt(at: number): string[] {
    const names = new Scan(this.#bytes)
    names.at = at
    names.skip(this.#bytes.length)
    return plain.unpack(this.#bytes.subarray(at, names.at)) as string[]
  }

  #u16(): number {
    const value = u16(this.#bytes, this.#scan.at)
    this.#scan.at += 2
    return value
  }

  #u32(): number {
    const value = u32(this.#bytes, this.#scan.at)
    this.#scan.at += 4
    return value
  }
}

/** Our encoder marks that name; msgpackr, which reads what is shorter, would change it. */
function put(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__') throw malformed('a name that is never written')
  record[name] = value
}

const plain = new Unpackr({ ...options, useRecords: false })
