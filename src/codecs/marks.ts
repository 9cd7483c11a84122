/**
 * What neither JSON nor MessagePack has a form for is stored as a mark: a tag and data that both
 * formats can hold. This file is the list of tags and the way back from tag and data to the value.
 * Data may come from hostile bytes: everything is checked, and nothing here looks up a name that
 * was read in a prototype chain.
 */

/** MessagePack writes the position in this list: append only. */
export const tags = [
  'undefined',
  'number',
  'bigint',
  'text',
  'date',
  'map',
  'set',
  'regexp',
  'url',
  'error',
  'bytes',
  'array',
  'object',
] as const

export type Tag = (typeof tags)[number]

/** From tag and data, itself revived already, to the value. Throws when they do not fit. */
export function unmark(tag: Tag, data: unknown, bytesOf: (data: unknown) => Buffer): unknown {
  switch (tag) {
    case 'undefined':
      return undefined
    case 'number':
      return numbers.get(data) ?? fail(tag)
    case 'bigint':
      return bigintFrom(textIn(data, tag))
    case 'text':
      return bytesOf(data).toString('utf16le')
    case 'date':
      return new Date(typeof data === 'number' ? data : NaN)
    case 'map':
      return mapFrom(listIn(data, tag))
    case 'set':
      return new Set(listIn(data, tag))
    case 'regexp':
      return regExpFrom(listIn(data, tag))
    case 'url':
      return new URL(textIn(data, tag))
    case 'error':
      return errorFrom(listIn(data, tag))
    case 'bytes':
      return bytesOf(data)
    case 'array':
      return viewFrom(listIn(data, tag), bytesOf)
    case 'object':
      return recordFrom(listIn(data, tag))
  }
}

const numbers = new Map<unknown, number>([
  ['NaN', NaN],
  ['-0', -0],
  ['Infinity', Infinity],
  ['-Infinity', -Infinity],
])

export function numberName(value: number): string {
  return Object.is(value, -0) ? '-0' : String(value)
}

/** Hexadecimal, since it is read and written in linear time. */
export function bigintName(value: bigint): string {
  return value.toString(16)
}

function bigintFrom(text: string): bigint {
  if (!/^-?[0-9a-f]+$/.test(text)) return fail('bigint')
  return text.startsWith('-') ? -BigInt(`0x${text.slice(1)}`) : BigInt(`0x${text}`)
}

function mapFrom(list: readonly unknown[]): Map<unknown, unknown> {
  const map = new Map<unknown, unknown>()
  for (let i = 0; i + 1 < list.length; i += 2) map.set(list[i], list[i + 1])
  return map
}

function regExpFrom([source, flags, lastIndex]: readonly unknown[]): RegExp {
  const regExp = new RegExp(textIn(source, 'regexp'), textIn(flags, 'regexp'))
  if (typeof lastIndex === 'number') regExp.lastIndex = lastIndex
  return regExp
}

/** An object whose names the format would trip over, as a list of names and values. */
function recordFrom(list: readonly unknown[]): Record<string, unknown> {
  const record: Record<string, unknown> = {}
  for (let i = 0; i + 1 < list.length; i += 2) {
    setOwn(record, textIn(list[i], 'object'), list[i + 1])
  }
  return record
}

/** An assignment would call the setter of `__proto__`. */
export function setOwn(record: Record<string, unknown>, name: string, value: unknown): void {
  if (name !== '__proto__') record[name] = value
  else {
    const property = { value, enumerable: true, configurable: true, writable: true }
    Object.defineProperty(record, name, property)
  }
}

const errorClasses = new Map<unknown, new (message: string) => Error>(
  [Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((of) => [
    of.name,
    of,
  ]),
)

/** `[name, message, code, cause, errors]`; a missing one is not in the list or is a marked undefined. */
function errorFrom(list: readonly unknown[]): Error {
  const name = textIn(list[0], 'error')
  const message = textIn(list[1], 'error')
  const errors = list[4]
  const made = Array.isArray(errors)
    ? new AggregateError(errors, message)
    : new (errorClasses.get(name) ?? Error)(message)
  if (made.name !== name) hide(made, 'name', name)
  // Where it was decoded tells nobody anything; where it was thrown is not ours to publish.
  hide(made, 'stack', message === '' ? name : `${name}: ${message}`)
  if (list[2] !== undefined) Object.assign(made, { code: list[2] })
  if (list[3] !== undefined) hide(made, 'cause', list[3])
  return made
}

function hide(error: Error, name: string, value: unknown): void {
  Object.defineProperty(error, name, { value, configurable: true, writable: true })
}

type ViewClass = new (buffer: ArrayBuffer) => unknown

const viewKinds =
  'Int8 Uint8 Uint8Clamped Int16 Uint16 Int32 Uint32 Float16 Float32 Float64 BigInt64 BigUint64'.split(
    ' ',
  )

/** By name, as far as this version of Node has them (Float16Array came later). */
const viewClasses = new Map<unknown, ViewClass>(
  viewKinds.flatMap((kind): [string, ViewClass][] => {
    const found: unknown = (globalThis as Record<string, unknown>)[`${kind}Array`]
    return typeof found === 'function' ? [[`${kind}Array`, found as ViewClass]] : []
  }),
).set('DataView', DataView)

function viewFrom([name, data]: readonly unknown[], bytesOf: (data: unknown) => Buffer): unknown {
  const bytes = bytesOf(data)
  // A copy from offset 0: a view of wider elements must be aligned.
  const buffer = new ArrayBuffer(bytes.length)
  new Uint8Array(buffer).set(bytes)
  if (name === 'ArrayBuffer') return buffer
  const found = viewClasses.get(name)
  return found === undefined ? fail('array') : new found(buffer)
}

function listIn(data: unknown, tag: Tag): readonly unknown[] {
  return Array.isArray(data) ? data : fail(tag)
}

function textIn(data: unknown, tag: Tag): string {
  return typeof data === 'string' ? data : fail(tag)
}

function fail(tag: string): never {
  throw new Error(`malformed value: no ${tag} can be made of what was read`)
}
