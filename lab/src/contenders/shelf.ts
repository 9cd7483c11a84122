// Where plain cache-aside keeps its values: Redis, or this process's memory when there is none.

import type { Redis } from 'ioredis'

export interface Shelf {
  get(key: string): Promise<string | null>
  set(key: string, text: string, ttlMs: number): Promise<void>
  delete(key: string): Promise<void>
}

export function redisShelf(redis: Redis): Shelf {
  return {
    get: (key) => redis.get(key),
    set: async (key, text, ttlMs) => void (await redis.set(key, text, 'PX', ttlMs)),
    delete: async (key) => void (await redis.del(key)),
  }
}

export function memoryShelf(): Shelf {
  const kept = new Map<string, { text: string; until: number }>()
  return {
    get: async (key) => {
      const entry = kept.get(key)
      return entry !== undefined && entry.until > performance.now() ? entry.text : null
    },
    set: async (key, text, ttlMs) => void kept.set(key, { text, until: performance.now() + ttlMs }),
    delete: async (key) => void kept.delete(key),
  }
}
