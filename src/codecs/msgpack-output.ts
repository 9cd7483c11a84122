/**
 * Tokens of MessagePack, written one after another into memory that grows. Small values share one
 * working memory and are copied out of it; a big one gets memory of the length that it is expected
 * to have, since each page that is touched for the first time costs more than what is written there.
 * What may be written is not decided here.
 */
import { charCode } from '../core/char-code.ts'
import { numberInto, u16Into, u32Into } from './msgpack-numbers.ts'
import { utf8Into } from './utf8.ts'

/** Longer text is written natively: a call costs as much as so many characters. */
const shortText = 64
/** Beyond what is asked for, for what may follow. */
const margin = 4_096
/** Memory grows to this many times its length at most, whatever is expected. */
const mostAtOnce = 256
/** Values up to this length share memory. */
const workingLength = 64 * 1024

export class Output {
  readonly #working = Buffer.allocUnsafeSlow(workingLength)
  /** What part of the value has been written by now, if the rest is like it; 1: nobody knows. */
  readonly #done: () => number
  #memory: Buffer = this.#working
  #view = viewOf(this.#working)
  #at = 0

  constructor(done: () => number) {
    this.#done = done
  }

  /** From the beginning, in that memory if there is any. */
  begin(room: Buffer | undefined): void {
    this.#use(room ?? this.#working)
    this.#at = 0
  }

  get at(): number {
    return this.#at
  }

  copyFrom(at: number): Buffer {
    return copyOf(this.#memory.subarray(at, this.#at))
  }

  /** In memory of its own: it may be kept for as long as the entry lives. */
  end(): Buffer {
    const memory = this.#memory
    const bytes = memory.subarray(0, this.#at)
    if (memory === this.#working) return copyOf(bytes)
    this.#use(this.#working)
    const wasted = memory.buffer.byteLength - bytes.length
    return wasted <= bytes.length / 8 ? bytes : copyOf(bytes)
  }

  token(token: number): void {
    if (this.#at >= this.#memory.length) this.#grow(1)
    this.#memory[this.#at++] = token
  }

  /** An extension of one byte, as several other libraries have it. */
  undefined(): void {
    this.token(0xd4)
    this.token(0)
    this.token(0)
  }

  number(value: number): void {
    if (this.#at + 9 > this.#memory.length) this.#grow(9)
    this.#at = numberInto(this.#memory, this.#at, value, this.#view)
  }

  bigint(value: bigint): void {
    if (this.#at + 9 > this.#memory.length) this.#grow(9)
    this.#memory[this.#at] = 0xd3
    this.#view.setBigInt64(this.#at + 1, value)
    this.#at += 9
  }

  /** Short ASCII; false: it is no such text, and nothing has been written. */
  ascii(text: string): boolean {
    const { length } = text
    if (length >= shortText) return false
    if (this.#at + length + 2 > this.#memory.length) this.#grow(length + 2)
    const memory = this.#memory
    let at = this.#at
    if (length < 0x20) memory[at++] = 0xa0 | length
    else {
      memory[at++] = 0xd9
      memory[at++] = length
    }
    let all = 0
    for (let i = 0; i < length; i++) {
      const code = charCode(text, i)
      all |= code
      memory[at + i] = code
    }
    if (all >= 0x80) return false
    this.#at = at + length
    return true
  }

  /** Well-formed text. */
  text(text: string): void {
    if (this.ascii(text)) return
    if (text.length < shortText) return this.#short(text)
    const length = Buffer.byteLength(text)
    if (this.#at + length + 5 > this.#memory.length) this.#grow(length + 5)
    this.#sized(0xd9, length)
    this.#memory.write(text, this.#at, length, length === text.length ? 'latin1' : 'utf8')
    this.#at += length
  }

  #short(text: string): void {
    const longest = text.length * 3
    if (this.#at + longest + 2 > this.#memory.length) this.#grow(longest + 2)
    const memory = this.#memory
    // Where it begins when it is that long; else it moves.
    let from = this.#at + (text.length < 0x20 ? 1 : 2)
    const at = utf8Into(memory, from, text)
    const length = at - from
    if (length < 0x20) memory[this.#at] = 0xa0 | length
    else {
      if (from === this.#at + 1) memory.copyWithin(++from, from - 1, at)
      memory[this.#at] = 0xd9
      memory[this.#at + 1] = length
    }
    this.#at = from + length
  }

  binary(bytes: Buffer): void {
    const { length } = bytes
    if (this.#at + length + 5 > this.#memory.length) this.#grow(length + 5)
    this.#sized(0xc4, length)
    this.raw(bytes)
  }

  array(length: number): void {
    this.#counted(0x90, 0xdc, length)
  }

  map(length: number): void {
    this.#counted(0x80, 0xde, length)
  }

  /** Bytes that are MessagePack already. */
  raw(bytes: Uint8Array): void {
    if (this.#at + bytes.length > this.#memory.length) this.#grow(bytes.length)
    this.#memory.set(bytes, this.#at)
    this.#at += bytes.length
  }

  #counted(short: number, long: number, length: number): void {
    if (this.#at + 5 > this.#memory.length) this.#grow(5)
    if (length < 0x10) this.#memory[this.#at++] = short | length
    else if (length < 0x10000) this.#at = u16Into(this.#memory, this.#at, long, length)
    else this.#at = u32Into(this.#memory, this.#at, long + 1, length)
  }

  #sized(token: number, length: number): void {
    if (length < 0x100) {
      this.#memory[this.#at++] = token
      this.#memory[this.#at++] = length
    } else if (length < 0x10000) this.#at = u16Into(this.#memory, this.#at, token + 1, length)
    else this.#at = u32Into(this.#memory, this.#at, token + 2, length)
  }

  /** To what it is expected to take, but always by a part of itself, else copying would never end. */
  #grow(by: number): void {
    const at = this.#at
    const done = Math.max(this.#done(), 1 / mostAtOnce)
    const expected = done < 1 ? (at / done) * 1.1 : at * 2
    const length = Math.ceil(Math.max(expected, at * 1.125, at + by)) + margin
    const memory = Buffer.allocUnsafeSlow(length)
    this.#memory.copy(memory, 0, 0, at)
    this.#use(memory)
  }

  #use(memory: Buffer): void {
    if (memory === this.#memory) return
    this.#memory = memory
    this.#view = viewOf(memory)
  }
}

function viewOf(memory: Buffer): DataView {
  return new DataView(memory.buffer, memory.byteOffset, memory.length)
}

/** Not from a pool. */
function copyOf(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length)
  own.set(bytes)
  return own
}
