/**
 * One text per structured argument: equal data gives equal text whatever the order of properties,
 * different data gives different text. What has no such text (functions, class instances, NaN,
 * cycles …) is refused, since JSON would turn it into `{}` or `null` and two keys would be one.
 */
import { isDate, isPlain, isPlainArray } from './plain.ts'

const maxDepth = 100
/** Shared references written out again and again could make a text without end. */
const maxNodes = 100_000

/** What cannot be part of a key, and where. */
export class NotCanonical extends Error {
  override readonly name = 'NotCanonical'
  constructor(path: readonly (string | number)[], what: string) {
    super(path.length === 0 ? what : `${what} at $${path.map(step).join('')}`)
  }
}

/** Begins with `{`, `[` or, for a Date, with a digit, `+` or `-`. Throws whatever goes wrong. */
export function canonical(value: object): string {
  return write(value, { path: [], ancestors: [], nodes: 0 })
}

// Taken now: a test runner may replace Date.
const { getTime, toISOString } = Date.prototype

interface Walk {
  readonly path: (string | number)[]
  readonly ancestors: object[]
  nodes: number
}

function write(value: unknown, walk: Walk): string {
  if (++walk.nodes > maxNodes) throw refuse(walk, `more than ${maxNodes} values`)
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value) // well-formed: a lone surrogate becomes its own escape
    case 'number':
      if (Number.isNaN(value)) throw refuse(walk, 'NaN')
      return `${value}`
    case 'bigint':
      return `${value}n`
    case 'boolean':
    case 'undefined':
      return `${value}`
    case 'object':
      return value === null ? 'null' : writeObject(value, walk)
    default:
      throw refuse(walk, `a ${typeof value}`)
  }
}

function writeObject(value: object, walk: Walk): string {
  if (walk.ancestors.includes(value)) throw refuse(walk, 'a cycle')
  if (walk.ancestors.length >= maxDepth) throw refuse(walk, `more than ${maxDepth} levels`)
  if (isPlainArray(value)) return within(value, walk, () => writeArray(value, walk))
  if (isPlain(value)) return within(value, walk, () => writeRecord(value, walk))
  if (isDate(value)) {
    if (Number.isNaN(getTime.call(value))) throw refuse(walk, 'an invalid Date')
    return toISOString.call(value)
  }
  throw refuse(walk, `an instance of ${className(value)}`)
}

function within(value: object, walk: Walk, run: () => string): string {
  walk.ancestors.push(value)
  const text = run()
  walk.ancestors.pop()
  return text
}

function writeArray(list: readonly unknown[], walk: Walk): string {
  const extra = Object.keys(list).find((name) => !isIndex(name))
  if (extra !== undefined) throw refuse(walk, `an array with a property ${JSON.stringify(extra)}`)
  refuseSymbols(list, walk)
  const items: string[] = []
  for (let i = 0; i < list.length; i++) {
    walk.path.push(i)
    items.push(write(list[i], walk))
    walk.path.pop()
  }
  return `[${items.join()}]`
}

function writeRecord(record: Record<string, unknown>, walk: Walk): string {
  refuseSymbols(record, walk)
  const items: string[] = []
  for (const name of Object.keys(record).sort()) {
    const value = record[name]
    if (value === undefined) continue
    walk.path.push(name)
    items.push(`${JSON.stringify(name)}:${write(value, walk)}`)
    walk.path.pop()
  }
  return `{${items.join()}}`
}

function refuseSymbols(value: object, walk: Walk): void {
  if (Object.getOwnPropertySymbols(value).length > 0) throw refuse(walk, 'a symbol as a property')
}

/** Object.keys lists indices first, in order; any other name comes after them. */
function isIndex(name: string): boolean {
  return /^(?:0|[1-9]\d*)$/.test(name)
}

function refuse(walk: Walk, what: string): NotCanonical {
  return new NotCanonical(walk.path, what)
}

function className(value: object): string {
  const { constructor } = value
  return typeof constructor === 'function' && constructor.name !== '' ? constructor.name : 'a class'
}

function step(name: string | number): string {
  if (typeof name === 'number') return `[${name}]`
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}
