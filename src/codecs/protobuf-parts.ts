/** Messages part by part: what of one did not come back, and what of one is still the frame's memory. */
import { isPlain } from '../core/plain.ts'
import type { Step } from './names.ts'
import { className, enumerableSymbols, shown } from './names.ts'

export interface Difference {
  readonly path: readonly Step[]
  readonly what: string
}

/** The first part that came back as something else. A `float` field may round. */
export function difference(given: unknown, back: unknown): Difference | undefined {
  const path: Step[] = []
  return differs(given, back, path)
}

function differs(given: unknown, back: unknown, path: Step[]): Difference | undefined {
  if (Object.is(given, back)) return undefined
  if (typeof given === 'number' && Object.is(Math.fround(given), back)) return undefined
  if (typeof given !== 'object' || given === null || typeof back !== 'object' || back === null) {
    const what =
      back === undefined
        ? 'not a field of this message'
        : `would come back as ${inShort(back)}, not ${inShort(given)}`
    return { path: [...path], what }
  }
  if (given instanceof Uint8Array && back instanceof Uint8Array) {
    if (Buffer.compare(given, back) === 0) return undefined
    return { path: [...path], what: 'would come back as other bytes' }
  }
  if (Array.isArray(given) !== Array.isArray(back)) {
    return { path: [...path], what: 'would come back as something else' }
  }
  // A Map has no properties to compare, and is written as an empty map.
  if (!Array.isArray(given) && !isPlain(given) && !Object.hasOwn(given, '$typeName')) {
    return {
      path: [...path],
      what: `${className(given)} where a message or a plain object belongs`,
    }
  }
  return partsDiffer(given as Parts, back as Parts, path)
}

type Parts = Readonly<Record<string, unknown>>

function partsDiffer(given: Parts, back: Parts, path: Step[]): Difference | undefined {
  const isList = Array.isArray(given)
  const [symbol] = enumerableSymbols(given)
  if (symbol !== undefined) return { path: [...path, String(symbol)], what: 'symbol' }
  for (const name of new Set([...Object.keys(given), ...Object.keys(back)])) {
    path.push(isList ? Number(name) : name)
    // Own ones: `__proto__` and the defaults of proto2 are found in prototypes.
    const found = differs(own(given, name), own(back, name), path)
    if (found !== undefined) return found
    path.pop()
  }
  return undefined
}

function own(parts: Parts, name: string): unknown {
  return Object.hasOwn(parts, name) ? parts[name] : undefined
}

function inShort(value: unknown): string {
  if (typeof value === 'object' && value !== null) return 'an object'
  if (typeof value === 'bigint') return `${value}n`
  const text = shown(value)
  return text.length > 40 ? `${text.slice(0, 40)}…` : text
}

/**
 * A decoded message with its bytes in memory of their own (the library gives pieces of what it
 * reads), and frozen where wanted: messages of proto2 have prototypes of their own, so a walk over
 * plain objects would not reach them.
 */
export function ownParts<Value>(
  value: Value,
  memory: ArrayBufferLike,
  how: 'frozen' | 'as they are',
): Value {
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return value
  const parts = value as Record<string, unknown>
  for (const name of Object.keys(parts)) {
    const part = parts[name]
    if (part instanceof Uint8Array) {
      if (part.buffer === memory) parts[name] = part.slice()
    } else ownParts(part, memory, how)
  }
  return how === 'frozen' ? Object.freeze(value) : value
}
