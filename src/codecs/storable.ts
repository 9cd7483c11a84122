/**
 * What a codec keeps, and what stands for the rest: the law, for JSON and MessagePack alike. The walk
 * gives the value itself when the format keeps all of it (the usual case, nothing is copied), else a
 * copy in which the rest is marked. Refuses what cannot come back equal, with its path. JSON is
 * encoded after the walk; MessagePack goes over plain data itself (msgpack-encode.ts).
 */
import { types } from 'node:util'
import { isPlain } from '../core/plain.ts'
import { Unstorable } from '../core/unstorable.ts'
import { bigintName, numberName, setOwn } from './marks.ts'
import type { Tag } from './marks.ts'
import { className, enumerableSymbols, messageOf, pathTo, shown, viewName } from './names.ts'
import type { Step } from './names.ts'

/** What a format keeps by itself, and how it writes down a mark. */
export interface Format {
  mark(tag: Tag, data: unknown): unknown
  /** Bytes inside a mark. */
  bytes(bytes: Buffer): unknown
  readonly keepsUndefined: boolean
  readonly keepsBuffer: boolean
  keepsNumber(value: number): boolean
  keepsBigint(value: bigint): boolean
  keepsText(value: string): boolean
  keepsName(name: string): boolean
}

const maxDepth = 1_000
/** One object that is referred to again and again is written each time: 2ⁿ copies in n levels. */
const maxValues = 10_000_000

export function storable(value: unknown, format: Format): unknown {
  const walk = new Walk(format)
  try {
    return walk.value(value)
  } catch (error) {
    throw walk.refused(error)
  }
}

/**
 * One walk over one value. Who writes a value as they walk it goes over what is plain themselves,
 * with `enter` and `leave`, and asks here what stands for the rest.
 */
export class Walk {
  readonly #format: Format
  /** What leads to the value at hand; valid up to `depth`. */
  readonly path: Step[] = []
  readonly ancestors: object[] = []
  #depth = 0
  #values = 0

  constructor(format: Format) {
    this.#format = format
  }

  value(value: unknown): unknown {
    const format = this.#format
    switch (typeof value) {
      case 'string':
        if (format.keepsText(value)) return value
        return format.mark('text', format.bytes(Buffer.from(value, 'utf16le')))
      case 'number':
        return format.keepsNumber(value) ? value : format.mark('number', numberName(value))
      case 'boolean':
        return value
      case 'undefined':
        return format.keepsUndefined ? value : format.mark('undefined', 0)
      case 'bigint':
        return format.keepsBigint(value) ? value : format.mark('bigint', bigintName(value))
      case 'object':
        return value === null ? null : this.#within(value)
      default:
        throw this.refusal(typeof value)
    }
  }

  refusal(what: string): Unstorable {
    return new Unstorable(pathTo(this.path.slice(0, this.#depth)), what)
  }

  /** For what was thrown in the course of the walk, by whatever code. */
  refused(error: unknown): Unstorable {
    if (error instanceof Unstorable) return error
    return this.refusal(`threw while it was read (${messageOf(error)})`)
  }

  /** Gives the depth of what is in the object: where the next step of the path goes. */
  enter(value: object): number {
    const depth = this.#depth
    const { ancestors } = this
    for (let i = depth - 1; i >= 0; i--) if (ancestors[i] === value) throw this.refusal('cycle')
    if (depth >= maxDepth) throw this.refusal(`more than ${maxDepth} levels`)
    ancestors[depth] = value
    this.#depth = depth + 1
    return depth
  }

  leave(depth: number): void {
    this.#depth = depth
  }

  get depth(): number {
    return this.#depth
  }

  #within(value: object): unknown {
    const depth = this.enter(value)
    const result = this.entered(value, depth)
    this.leave(depth)
    return result
  }

  entered(value: object, depth: number): unknown {
    if (Array.isArray(value)) return this.#array(value, depth)
    return isPlain(value) ? this.#record(value, depth) : this.#other(value, depth)
  }

  #array(list: readonly unknown[], depth: number): unknown {
    let copy = list.constructor === Array ? undefined : Array.from<unknown>(list)
    this.count(list.length)
    for (let i = 0; i < list.length; i++) {
      this.path[depth] = i
      const item = list[i]
      const kept = this.value(item)
      if (kept === item || Object.is(kept, item)) continue
      copy ??= list.slice()
      copy[i] = kept
    }
    return copy ?? list
  }

  #record(record: Record<string, unknown>, depth: number): unknown {
    if (typeof record['toJSON'] === 'function') return this.#toJson(record, depth)
    if (Object.getOwnPropertySymbols(record).length > 0) {
      const [symbol] = enumerableSymbols(record)
      if (symbol !== undefined) {
        this.path[depth] = String(symbol)
        throw this.refusal('symbol')
      }
    }
    return polluted() ? this.#copied(record, depth) : this.#fields(record, depth)
  }

  /** for-in, since it is several times as fast as keys; nothing enumerable is inherited here. */
  #fields(record: Record<string, unknown>, depth: number): unknown {
    let copy: Record<string, unknown> | undefined
    for (const name in record) {
      if (!this.#format.keepsName(name)) return this.#named(record, depth)
      this.count(1)
      this.path[depth] = name
      const field = record[name]
      const kept = this.value(field)
      if (copy === undefined) {
        if (kept === field || Object.is(kept, field)) continue
        copy = fieldsBefore(name, record)
      }
      setOwn(copy, name, kept)
    }
    return copy ?? record
  }

  /** The own enumerable properties of any object, as a plain one. */
  #copied(object: object, depth: number): unknown {
    const record = object as Record<string, unknown>
    const names = Object.keys(record)
    if (!names.every((name) => this.#format.keepsName(name))) return this.#named(record, depth)
    this.count(names.length)
    const copy: Record<string, unknown> = {}
    for (const name of names) {
      this.path[depth] = name
      setOwn(copy, name, this.value(record[name]))
    }
    return copy
  }

  #named(record: Record<string, unknown>, depth: number): unknown {
    const list: unknown[] = []
    for (const name of Object.keys(record)) {
      this.count(2)
      this.path[depth] = name
      list.push(this.value(name), this.value(record[name]))
    }
    return this.#format.mark('object', list)
  }

  #other(value: object, depth: number): unknown {
    const { mark, bytes, keepsBuffer } = this.#format
    if (types.isDate(value)) {
      const time = Date.prototype.getTime.call(value)
      return mark('date', Number.isNaN(time) ? null : time)
    }
    if (Buffer.isBuffer(value)) return keepsBuffer ? value : mark('bytes', bytes(value))
    if (ArrayBuffer.isView(value)) {
      const view = Buffer.from(value.buffer, value.byteOffset, value.byteLength)
      return mark('array', [viewName(value), bytes(view)])
    }
    if (types.isArrayBuffer(value)) return mark('array', ['ArrayBuffer', bytes(Buffer.from(value))])
    if (types.isMap(value)) return mark('map', this.#map(value, depth))
    if (types.isSet(value)) return mark('set', this.#set(value, depth))
    if (types.isRegExp(value)) {
      const { source, flags, lastIndex } = value
      return mark('regexp', lastIndex === 0 ? [source, flags] : [source, flags, lastIndex])
    }
    if (value instanceof URL) return mark('url', value.href)
    if (value instanceof Error || types.isNativeError(value)) return this.#error(value, depth)
    if (types.isBoxedPrimitive(value)) return this.value(value.valueOf())
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.#toJson(value, depth)
    // WeakMap, Promise, Response, a class of private fields: `{}` would not be equal to them.
    if (Object.keys(value).length === 0) throw this.refusal(`${className(value)} without data`)
    return this.#copied(value, depth)
  }

  #map(map: ReadonlyMap<unknown, unknown>, depth: number): unknown[] {
    const list: unknown[] = []
    this.count(map.size * 2)
    for (const [key, item] of map) {
      this.path[depth] = { call: `keys()[${list.length / 2}]` }
      list.push(this.value(key))
      this.path[depth] =
        typeof key === 'object' ? { call: 'get(…)' } : { call: `get(${shown(key)})` }
      list.push(this.value(item))
    }
    return list
  }

  #set(set: ReadonlySet<unknown>, depth: number): unknown[] {
    const list: unknown[] = []
    this.count(set.size)
    for (const item of set) {
      this.path[depth] = { call: `values()[${list.length}]` }
      list.push(this.value(item))
    }
    return list
  }

  #error(error: Error, depth: number): unknown {
    const { name, message } = error
    const rest = [(error as { code?: unknown }).code, error.cause]
    if (error instanceof AggregateError) rest.push(error.errors)
    while (rest.length > 0 && rest.at(-1) === undefined) rest.pop()
    const list = [`${name}`, `${message}`].map((text) => this.value(text))
    rest.forEach((part, i) => {
      this.path[depth] = ['code', 'cause', 'errors'][i]!
      list.push(this.value(part))
    })
    return this.#format.mark('error', list)
  }

  #toJson(value: object, depth: number): unknown {
    this.path[depth] = { call: 'toJSON()' }
    const json: unknown = (value as { toJSON(): unknown }).toJSON()
    if (json !== value) return this.value(json)
    return this.#copied(value, depth)
  }

  count(values: number): void {
    this.#values += values
    if (this.#values > maxValues) throw this.refusal(`more than ${maxValues} values in all`)
  }
}

function fieldsBefore(end: string, record: Record<string, unknown>): Record<string, unknown> {
  const copy: Record<string, unknown> = {}
  for (const name in record) {
    if (name === end) break
    setOwn(copy, name, record[name])
  }
  return copy
}

/** Whether somebody has given all objects an enumerable property. */
export function polluted(): boolean {
  for (const _ in nothing) return true
  return false
}

const nothing = {}
