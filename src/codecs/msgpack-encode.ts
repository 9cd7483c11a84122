/**
 * The value, walked and written in one pass. Plain data, which is nearly all there is, is written as
 * it is met; for the rest the walk that JSON takes, too (storable.ts), decides what stands for it, and
 * that is written. Code of the value (getters, toJSON) runs in between: it may change the value, so
 * what has been announced is written whatever comes, and may encode others, with an encoder of theirs.
 */
import { C1 } from 'msgpackr'
import { format } from './msgpack-format.ts'
import { Output } from './msgpack-output.ts'
import { Shapes } from './msgpack-shapes.ts'
import { polluted, Walk } from './storable.ts'

/** Of shorter lists nothing is concluded. */
const telling = 8

export class Encoder {
  readonly #output = new Output(() => this.#done())
  readonly #shapes = new Shapes(this.#output)
  #walk = new Walk(format)
  /** The outermost list of what stands for something, and how far in it we are. */
  #list: readonly unknown[] | undefined
  #at = 0

  /** `room`: memory to write into, if it is enough. */
  encode(value: unknown, room: Buffer | undefined): Buffer {
    const walk = new Walk(format)
    this.#walk = walk
    this.#output.begin(room)
    try {
      this.#value(value)
      return this.#output.end()
    } catch (error) {
      this.#output.begin(undefined)
      throw walk.refused(error)
    } finally {
      this.#shapes.next()
      this.#walk = nothing
      this.#list = undefined
    }
  }

  #value(value: unknown): void {
    switch (typeof value) {
      case 'string':
        if (this.#output.ascii(value)) return
        if (format.keepsText(value)) this.#output.text(value)
        else this.#other(value)
        return
      case 'number':
        if (format.keepsNumber(value)) this.#output.number(value)
        else this.#other(value)
        return
      case 'boolean':
        this.#output.token(value ? 0xc3 : 0xc2)
        return
      case 'object':
        if (value === null) this.#output.token(0xc0)
        else this.#object(value)
        return
      default:
        this.#other(value)
    }
  }

  #other(value: unknown): void {
    this.#data(this.#walk.value(value))
  }

  #object(value: object): void {
    const walk = this.#walk
    const depth = walk.enter(value)
    if (Array.isArray(value)) {
      if (value.constructor === Array) this.#array(value, depth)
      else this.#data(walk.entered(value, depth))
    } else if (!isOrdinary(value) || !this.#record(value, depth)) {
      this.#data(walk.entered(value, depth))
    }
    walk.leave(depth)
  }

  #array(list: readonly unknown[], depth: number): void {
    const { length } = list
    const { path } = this.#walk
    this.#walk.count(length)
    this.#output.array(length)
    for (let i = 0; i < length; i++) {
      path[depth] = i
      this.#value(list[i])
    }
  }

  /** False: it is none for us, and nothing has been written. */
  #record(record: Record<string, unknown>, depth: number): boolean {
    const names = this.#shapes.write(record)
    if (names === undefined) return false
    const { path } = this.#walk
    const { length } = names
    this.#walk.count(length)
    let i = 0
    for (const name in record) {
      if (name !== names[i]) break
      i++
      path[depth] = name
      this.#value(record[name])
    }
    // Some code of the value has changed it.
    for (; i < length; i++) {
      path[depth] = names[i]!
      this.#value(record[names[i]!])
    }
    return true
  }

  /** What the walk has left or made: the format keeps all of it. */
  #data(data: unknown): void {
    const output = this.#output
    switch (typeof data) {
      case 'string':
        return output.text(data)
      case 'number':
        return output.number(data)
      case 'boolean':
        return output.token(data ? 0xc3 : 0xc2)
      case 'bigint':
        return output.bigint(data)
      case 'undefined':
        return output.undefined()
      case 'object':
        if (data === null) return output.token(0xc0)
        if (data === C1) return output.token(0xc1)
        if (Buffer.isBuffer(data)) return output.binary(data)
        if (Array.isArray(data)) return this.#listed(data)
        return this.#named(data as Record<string, unknown>)
      default:
        throw this.#walk.refusal(typeof data)
    }
  }

  #listed(list: readonly unknown[]): void {
    const { length } = list
    const isOutermost = this.#list === undefined && length >= telling
    if (isOutermost) this.#list = list
    this.#output.array(length)
    for (let i = 0; i < length; i++) {
      if (isOutermost) this.#at = i
      this.#data(list[i])
    }
    if (isOutermost) this.#list = undefined
  }

  #named(record: Record<string, unknown>): void {
    let names = inheritsNames(record) ? undefined : this.#shapes.write(record)
    if (names !== undefined) {
      for (const name of names) this.#data(record[name])
      return
    }
    names = Object.keys(record)
    this.#output.map(names.length)
    for (const name of names) {
      this.#output.text(name)
      this.#data(record[name])
    }
  }

  /** By the outermost list that we walk along, and by what stands for something in it. */
  #done(): number {
    const { ancestors, depth, path } = this.#walk
    const made = this.#list === undefined ? Infinity : (this.#at + 1) / this.#list.length
    for (let i = 0; i < depth; i++) {
      const list = ancestors[i]
      const at = path[i]
      if (!Array.isArray(list) || list.length < telling || typeof at !== 'number') continue
      return Math.min((at + 1) / list.length, made)
    }
    return Math.min(made, 1)
  }
}

/** Between values: the last one is not held. */
const nothing = new Walk(format)

/** Its own enumerable properties are all that for-in finds, all that it has, and what it is. */
function isOrdinary(value: object): value is Record<string, unknown> {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype === Object.prototype ? polluted() : prototype !== null) return false
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false
  return Object.getOwnPropertySymbols(value).length === 0
}

/** From the root of whatever realm it is from. */
function inheritsNames(record: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(record)
  if (prototype === Object.prototype) return polluted()
  for (const _ in prototype as object | null) return true
  return false
}
