/**
 * JSON of whatever a value may be. What JSON has no form for is an object with one property that
 * begins with `$`, as in `{ "$bigint": "1" }`.
 */
import { plainJson } from './paint.ts'

export function asJson(value: unknown): string {
  return plainJson(JSON.stringify(writable(value, new Set()), undefined, 2))
}

function writable(value: unknown, above: Set<object>): unknown {
  switch (typeof value) {
    case 'bigint':
      return { $bigint: String(value) }
    case 'number':
      return Number.isFinite(value) ? value : { $number: String(value) }
    case 'object':
      return value === null ? null : nested(value, above)
    case 'function':
    case 'symbol':
      return { $other: String(value) }
    case 'undefined':
      return { $undefined: true }
    default:
      return value
  }
}

function nested(value: object, above: Set<object>): unknown {
  if (above.has(value)) return { $circular: true }
  above.add(value)
  try {
    return byKind(value, (inner) => writable(inner, above))
  } finally {
    above.delete(value)
  }
}

function byKind(value: object, write: (inner: unknown) => unknown): unknown {
  if (Array.isArray(value)) return value.map(write)
  if (value instanceof Date) return { $date: Number.isNaN(+value) ? null : value.toISOString() }
  if (value instanceof Map)
    return { $map: [...value].map(([key, one]) => [write(key), write(one)]) }
  if (value instanceof Set) return { $set: [...value].map(write) }
  if (value instanceof RegExp) return { $regexp: String(value) }
  if (value instanceof Error) return { $error: { name: value.name, message: value.message } }
  if (ArrayBuffer.isView(value)) {
    const { buffer, byteOffset, byteLength } = value
    return { $bytes: Buffer.from(buffer, byteOffset, byteLength).toString('base64') }
  }
  if (value instanceof ArrayBuffer) return { $bytes: Buffer.from(value).toString('base64') }
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, write(one)]))
}
