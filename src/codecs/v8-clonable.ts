/**
 * The walk before a structured clone. V8 writes a URL, a Response or a class of private fields as
 * `{}`, drops symbol-named properties, and of an Error the code, the name and the errors; all without
 * a word. What would not come back equal is refused here, with its path.
 */
import { types } from 'node:util'
import { isPlain } from '../core/plain.ts'
import { Unstorable } from '../core/unstorable.ts'
import { className, enumerableSymbols, messageOf, pathTo, shown } from './names.ts'
import type { Step } from './names.ts'

const maxDepth = 1_000

/** Throws `Unstorable`. Each object is looked at once, so that cycles end. */
export function refuseUnclonable(value: unknown): void {
  const walk: Walk = { path: [], seen: new Set() }
  try {
    look(value, walk)
  } catch (error) {
    if (error instanceof Unstorable) throw error
    throw refusal(walk, `threw while it was read (${messageOf(error)})`)
  }
}

interface Walk {
  readonly path: Step[]
  readonly seen: Set<object>
}

function look(value: unknown, walk: Walk): void {
  if (typeof value === 'function' || typeof value === 'symbol') throw refusal(walk, typeof value)
  if (typeof value !== 'object' || value === null || walk.seen.has(value)) return
  walk.seen.add(value)
  if (walk.path.length >= maxDepth) throw refusal(walk, `more than ${maxDepth} levels`)
  if (types.isProxy(value)) throw refusal(walk, 'Proxy')
  if (Array.isArray(value) || isPlain(value)) lookAtFields(value, walk)
  else lookAtOther(value, walk)
}

function lookAtOther(value: object, walk: Walk): void {
  if (types.isDate(value)) return
  if (types.isRegExp(value)) {
    if (value.lastIndex !== 0) throw refusal(walk, 'RegExp with a lastIndex')
    return
  }
  if (ArrayBuffer.isView(value) || types.isArrayBuffer(value)) return
  if (types.isMap(value)) return lookAtMap(value, walk)
  if (types.isSet(value)) return lookAtSet(value, walk)
  if (value instanceof Error || types.isNativeError(value)) return lookAtError(value, walk)
  if (types.isBoxedPrimitive(value)) return
  if (Object.keys(value).length === 0) throw refusal(walk, `${className(value)} without data`)
  lookAtFields(value, walk)
}

function lookAtFields(value: object, walk: Walk): void {
  const [symbol] = enumerableSymbols(value)
  if (symbol !== undefined) {
    within(String(symbol), walk, () => {
      throw refusal(walk, 'symbol')
    })
  }
  const isList = Array.isArray(value)
  for (const name of Object.keys(value)) {
    const step = isList && /^\d+$/.test(name) ? Number(name) : name
    within(step, walk, () => look((value as Record<string, unknown>)[name], walk))
  }
}

function lookAtMap(map: ReadonlyMap<unknown, unknown>, walk: Walk): void {
  let i = 0
  for (const [key, item] of map) {
    within({ call: `keys()[${i++}]` }, walk, () => look(key, walk))
    const call = typeof key === 'object' ? 'get(…)' : `get(${shown(key)})`
    within({ call }, walk, () => look(item, walk))
  }
}

function lookAtSet(set: ReadonlySet<unknown>, walk: Walk): void {
  let i = 0
  for (const item of set) within({ call: `values()[${i++}]` }, walk, () => look(item, walk))
}

const keptNames = new Set<unknown>([
  'Error',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SyntaxError',
  'TypeError',
  'URIError',
])

/** V8 keeps message, stack and cause, and the name of a built-in class. */
function lookAtError(error: Error, walk: Walk): void {
  if (!types.isNativeError(error)) throw refusal(walk, `${className(error)} without data`)
  if (error instanceof AggregateError) throw refusal(walk, 'AggregateError')
  if (!keptNames.has(error.name)) throw refusal(walk, `error of the name ${shown(error.name)}`)
  const [lost] = Object.keys(error).filter((name) => name !== 'cause')
  if (lost !== undefined) {
    within(lost, walk, () => {
      throw refusal(walk, 'property of an error')
    })
  }
  if ('cause' in error) within('cause', walk, () => look(error.cause, walk))
}

/** Left behind when it throws, so that the path is there for the message. */
function within(step: Step, walk: Walk, run: () => void): void {
  walk.path.push(step)
  run()
  walk.path.pop()
}

function refusal(walk: Walk, what: string): Unstorable {
  return new Unstorable(pathTo(walk.path), what)
}
