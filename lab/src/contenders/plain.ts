// Cache-aside as in every tutorial. Nothing stops callers who miss together from querying together.

import type { Trending } from '../shop/queries.ts'
import type { Contender, Load } from './contender.ts'
import type { Shelf } from './shelf.ts'

export function plain(options: {
  shelf: Shelf
  namespace: string
  ttlMs: number
  load: Load
}): Contender {
  const { shelf, namespace, ttlMs, load } = options
  const keyOf = (category: string): string => `${namespace}:trending:${category}`
  return {
    async trending(category) {
      const cached = await shelf.get(keyOf(category))
      if (cached !== null) return JSON.parse(cached) as Trending
      const value = await load(category)
      await shelf.set(keyOf(category), JSON.stringify(value), ttlMs)
      return value
    },
    invalidate: (category) => shelf.delete(keyOf(category)),
  }
}
