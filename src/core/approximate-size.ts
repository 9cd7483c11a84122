/**
 * About how many bytes of memory a value takes, for a tier that keeps values unencoded. Looks at a
 * thousand nodes at most: what was not looked at is taken to be like the rest of its container. The
 * value is the user's own: no getter of it is run, and whatever it does, this does not throw.
 */

const maxNodes = 1_000

export function approximateSize(value: unknown): number {
  const walk = { left: maxNodes, seen: new Set<object>() }
  try {
    return Math.ceil(sizeOf(value, walk))
  } catch {
    return 64
  }
}

interface Walk {
  left: number
  readonly seen: Set<object>
}

function sizeOf(value: unknown, walk: Walk): number {
  walk.left--
  switch (typeof value) {
    case 'string':
      return 16 + value.length
    case 'bigint':
      return 24
    case 'object':
      return value === null ? 8 : sizeOfObject(value, walk)
    case 'function':
      return 64
    default:
      return 8
  }
}

function sizeOfObject(value: object, walk: Walk): number {
  if (walk.seen.has(value)) return 8
  walk.seen.add(value)
  if (ArrayBuffer.isView(value)) return 96 + value.byteLength
  if (value instanceof ArrayBuffer) return 96 + value.byteLength
  if (Array.isArray(value)) return 16 + sampled(value, value.length, walk)
  if (value instanceof Map) return 64 + 2 * sampled(flat(value), value.size * 2, walk)
  if (value instanceof Set) return 64 + 2 * sampled(value, value.size, walk)
  const names = Object.keys(value)
  return 24 + sampled(fieldsOf(value, names), names.length, walk)
}

/** The sum over `count` items, from as many as may still be looked at. */
function sampled(items: Iterable<unknown>, count: number, walk: Walk): number {
  let looked = 0
  let sum = 0
  for (const item of items) {
    if (walk.left <= 0) break
    looked++
    sum += 8 + sizeOf(item, walk)
  }
  return looked === 0 ? count * 16 : (sum / looked) * count
}

function* flat(map: ReadonlyMap<unknown, unknown>): Iterable<unknown> {
  for (const entry of map) yield* entry
}

function* fieldsOf(record: object, names: readonly string[]): Iterable<unknown> {
  for (const name of names) yield Object.getOwnPropertyDescriptor(record, name)?.value
}
