/** A list in parts: by length, or by what its items have in common. */

/** Of at most so many each, in order. */
export function chunksOf<T>(items: readonly T[], most: number): readonly (readonly T[])[] {
  const chunks: (readonly T[])[] = []
  for (let from = 0; from < items.length; from += most) chunks.push(items.slice(from, from + most))
  return chunks
}

/** Of the same name each, in order. (`Map.groupBy` is younger than Node 20.) */
export function groupedBy<T>(
  items: readonly T[],
  nameOf: (item: T) => string,
): readonly (readonly T[])[] {
  const parts = new Map<string, T[]>()
  for (const item of items) {
    const name = nameOf(item)
    const part = parts.get(name)
    if (part === undefined) parts.set(name, [item])
    else part.push(item)
  }
  return [...parts.values()]
}
