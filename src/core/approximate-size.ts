/** Roughly what a value takes in memory, where nothing is encoded that could be measured. */
const mostNodes = 1_000

export function approximateSize(value: unknown): number {
  let bytes = 0
  let nodes = 0
  const left: unknown[] = [value]
  const seen = new Set<object>()
  while (left.length > 0) {
    // What was not looked at is taken to be like what was.
    if (++nodes > mostNodes) return Math.ceil(bytes * (1 + left.length / nodes))
    const item = left.pop()
    switch (typeof item) {
      case 'string':
        bytes += 16 + item.length * 2
        break
      case 'object': {
        bytes += 24
        if (item === null || seen.has(item)) break
        seen.add(item)
        if (ArrayBuffer.isView(item) || item instanceof ArrayBuffer) bytes += item.byteLength
        else if (item instanceof Map) left.push(...[...item].slice(0, mostNodes).flat())
        else if (Array.isArray(item) || item instanceof Set)
          left.push(...[...item].slice(0, mostNodes))
        else {
          for (const key of Object.keys(item).slice(0, mostNodes)) {
            bytes += 8 + key.length
            const descriptor = Object.getOwnPropertyDescriptor(item, key)
            if (descriptor !== undefined && 'value' in descriptor) left.push(descriptor.value)
          }
        }
        break
      }
      default:
        bytes += 8
    }
  }
  return bytes
}
