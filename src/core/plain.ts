/**
 * Which objects are only data. Asked by prototype and never by constructor or tag, which belong to
 * the object; a root prototype from another realm (a vm context, a test runner) counts as ours.
 */

/** A record: `{}`, or without a prototype. No class instance, however empty. */
export function isPlain(value: object): value is Record<string, unknown> {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === Object.prototype || prototype === null) return !Array.isArray(value)
  return isRoot(prototype)
}

/** An array itself, no subclass. */
export function isPlainArray(value: object): value is unknown[] {
  return Array.isArray(value) && (isBuiltin(value, Array.prototype) || isPrototypeless(value))
}

const { getTime } = Date.prototype

/**
 * A Date by its slot. Fake timers put a subclass in place of the real one and take it away again:
 * a class that adds nothing counts, one with methods or an instance with properties does not.
 */
export function isDate(value: object): value is Date {
  try {
    getTime.call(value as Date)
  } catch {
    return false
  }
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null) return false
  const parent: object | null = Object.getPrototypeOf(prototype)
  const isSubclass = parent !== null && Object.getPrototypeOf(parent) !== null
  if (isSubclass && Object.getOwnPropertyNames(prototype).length > 1) return false
  return Object.keys(value).length === 0
}

function isBuiltin(value: object, ours: object): boolean {
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === ours) return true
  if (prototype === null) return false
  const parent: object | null = Object.getPrototypeOf(prototype)
  return parent !== null && parent !== Object.prototype && isRoot(parent)
}

function isPrototypeless(value: object): boolean {
  return Object.getPrototypeOf(value) === null
}

function isRoot(prototype: object): boolean {
  return Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, 'isPrototypeOf')
}
