/**
 * Callers share one copy of a value, so nobody may change it. Freezes plain objects and arrays, in
 * Maps and Sets too; Dates, Maps, bytes and class instances have state that freezing does not reach
 * and are left alone. What is frozen already is taken as done, which also ends cycles; Maps and Sets,
 * which never are, are noted.
 */
import { isPlain } from './plain.ts'

export function deepFreeze<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) return value
  const pending: object[] = [value]
  let seen: Set<object> | undefined
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (next instanceof Map || next instanceof Set) {
      seen ??= new Set()
      if (seen.has(next)) continue
      seen.add(next)
    }
    freezeOne(next, pending)
  }
  return value
}

function freezeOne(value: object, pending: object[]): void {
  if (Array.isArray(value)) {
    if (Object.isFrozen(value)) return
    for (let i = 0; i < value.length; i++) later(value[i], pending)
    Object.freeze(value)
  } else if (isPlain(value)) {
    if (Object.isFrozen(value)) return
    for (const name in value) later(value[name], pending)
    Object.freeze(value)
  } else if (value instanceof Map) {
    for (const [key, item] of value) {
      later(key, pending)
      later(item, pending)
    }
  } else if (value instanceof Set) {
    for (const item of value) later(item, pending)
  }
}

function later(value: unknown, pending: object[]): void {
  if (typeof value === 'object' && value !== null) pending.push(value)
}
