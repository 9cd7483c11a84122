/** The in-process tier on lru-cache. Lifetimes are the engine's business: an entry carries its own. */
import { LRUCache } from 'lru-cache'
import type { Memory } from '../ports.ts'

export function lruMemory<E extends object>(maxEntries: number, maxBytes: number): Memory<E> {
  const entries = new LRUCache<string, E>({ max: maxEntries, maxSize: maxBytes })
  return {
    get: (key) => entries.get(key),
    set: (key, entry, bytes) => void entries.set(key, entry, { size: bytes }),
    delete: (key) => void entries.delete(key),
    clear: () => entries.clear(),
  }
}
