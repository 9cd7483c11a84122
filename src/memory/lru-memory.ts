/** The in-process tier on lru-cache. Lifetimes are the engine's business: an entry carries its own. */
import { LRUCache } from 'lru-cache'
import type { Memory } from '../ports.ts'

/** lru-cache lays out arrays for as many entries as it may hold: beyond this, they grow instead. */
const mostLaidOut = 100_000

export function lruMemory<E extends object>(maxEntries: number, maxBytes: number): Memory<E> {
  const laidOut = maxEntries <= mostLaidOut
  const entries = new LRUCache<string, E>({ max: laidOut ? maxEntries : 0, maxSize: maxBytes })
  return {
    get: (key) => entries.get(key),
    set: (key, entry, bytes) => {
      entries.set(key, entry, { size: bytes })
      if (!laidOut) while (entries.size > maxEntries) entries.pop()
    },
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
