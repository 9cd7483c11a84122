// The two stores of its quick start: CacheableMemory and @keyv/redis, each inside a Keyv. It serves
// nothing stale; its nearest thing, `refreshThreshold`, refreshes what is read shortly before expiry.

import KeyvRedis from '@keyv/redis'
import { createCache } from 'cache-manager'
import { CacheableMemory } from 'cacheable'
import { Keyv } from 'keyv'
import type { Id, Item, Opened, Setting } from './contender.ts'

export async function open(setting: Setting): Promise<Opened> {
  const { ttlMs, staleMs, load } = setting
  const cache = createCache({
    stores: storesOf(setting),
    ttl: ttlMs,
    ...(staleMs > 0 && { refreshThreshold: ttlMs / 4 }),
  })
  return {
    get: (id) => cache.wrap(keyOf(id), () => load(id)),
    getMany: (ids) => cache.mget<Item>(ids.map(keyOf)),
    set: (id, item) => cache.set(keyOf(id), item),
    close: () => cache.disconnect(),
  }
}

const keyOf = (id: Id): string => `items:${id}`

function storesOf({ tiers, url, ttlMs, maxEntries }: Setting): Keyv[] {
  const stores: Keyv[] = []
  if (tiers !== 'redis') {
    stores.push(new Keyv({ store: new CacheableMemory({ ttl: ttlMs, lruSize: maxEntries }) }))
  }
  if (tiers !== 'memory') stores.push(new Keyv({ store: new KeyvRedis(url) }))
  return stores
}
