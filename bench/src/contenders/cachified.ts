// One cache per call: the lru-cache adapter of its README, or cachified-redis-adapter, which its
// README names. It has no set of its own: `forceFresh` with the value at hand is its way to write.

import { cachified as read, totalTtl, type Cache, type CacheEntry } from '@epic-web/cachified'
import { redisCacheAdapter } from 'cachified-redis-adapter'
import { LRUCache } from 'lru-cache'
import { connectNodeRedis } from './connect.ts'
import type { Id, Item, Opened, Setting } from './contender.ts'

export async function open({
  tiers,
  url,
  ttlMs,
  staleMs,
  maxEntries,
  load,
}: Setting): Promise<Opened> {
  const redis = tiers === 'memory' ? undefined : await connectNodeRedis(url)
  const cache = redis === undefined ? lruAdapter(maxEntries) : redisCacheAdapter(redis)
  const entry = { cache, ttl: ttlMs, swr: staleMs }
  const keyOf = (id: Id): string => `items:${id}`
  return {
    get: (id) => read<Item>({ ...entry, key: keyOf(id), getFreshValue: () => load(id) }),
    set: (id, item) =>
      read<Item>({ ...entry, key: keyOf(id), forceFresh: true, getFreshValue: () => item }),
    close: async () => redis?.destroy(),
  }
}

function lruAdapter(max: number): Cache {
  const lru = new LRUCache<string, CacheEntry>({ max })
  return {
    set: (key, value) => {
      const ttl = totalTtl(value.metadata)
      lru.set(key, value, {
        ...(ttl !== Number.POSITIVE_INFINITY && { ttl }),
        start: value.metadata.createdTime,
      })
    },
    get: (key) => lru.get(key),
    delete: (key) => lru.delete(key),
  }
}
