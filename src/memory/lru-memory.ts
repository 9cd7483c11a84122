/** The in-process tier on lru-cache. Lifetimes are the engine's business: an entry carries its own. */
import { LRUCache } from 'lru-cache'
import type { Memory } from '../ports.ts'

/** lru-cache lays out arrays for as many entries as it may hold: beyond this, they grow instead. */
const mostLaidOut = 100_000

export interface Bounds<E> {
  readonly maxEntries: number
  readonly maxBytes: number
  /** An entry is not there any more, for whatever reason. */
  onDropped(entry: E): void
}

export function lruMemory<E extends object>({
  maxEntries,
  maxBytes,
  onDropped,
}: Bounds<E>): Memory<E> {
  const laidOut = maxEntries <= mostLaidOut
  const entries = new LRUCache<string, E>({
    max: laidOut ? maxEntries : 0,
    maxSize: maxBytes,
    dispose: (entry, _, why) => {
      memory.changes++
      if (why === 'evict') memory.evicted++
      onDropped(entry)
    },
  })
  // A plain property: every hit reads it.
  const memory = {
    changes: 0,
    evicted: 0,
    get entries() {
      return entries.size
    },
    get bytes() {
      return entries.calculatedSize
    },
    get: (key: string) => entries.get(key),
    set: (key: string, entry: E, bytes: number) => {
      memory.changes++
      entries.set(key, entry, { size: bytes })
      if (!laidOut) while (entries.size > maxEntries) entries.pop()
    },
    delete: (key: string) => void entries.delete(key),
    clear: () => entries.clear(),
  }
  return memory
}
