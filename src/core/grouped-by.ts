/** In parts of what has the same name, each in its order. (`Map.groupBy` is younger than Node 20.) */
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
