/**
 * Callers share one copy: plain objects and arrays are frozen through and through. What has inner
 * slots (Date, Map, buffers) cannot be frozen in a way that protects it, and is left alone.
 */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  const left: object[] = [value]
  for (let item = left.pop(); item !== undefined; item = left.pop()) {
    if (Array.isArray(item)) {
      for (const inner of item) {
        if (typeof inner === 'object' && inner !== null) left.push(inner)
      }
    } else {
      const prototype = Object.getPrototypeOf(item) as unknown
      if (prototype !== Object.prototype && prototype !== null) continue
      for (const key of Object.keys(item)) {
        const inner = (item as Record<string, unknown>)[key]
        if (typeof inner === 'object' && inner !== null) left.push(inner)
      }
    }
    Object.freeze(item)
  }
  return value
}
