// One storage at a time: memory or Redis. It has neither a set nor a batch.

import { createCache, type StorageRedisOptions } from 'async-cache-dedupe'
import type { Redis } from 'ioredis'
import { connectIoredis } from './connect.ts'
import type { Id, Item, Opened, Setting } from './contender.ts'

export async function open(setting: Setting): Promise<Opened> {
  const redis =
    setting.tiers === 'memory' ? undefined : await connectIoredis('ioredis5', setting.url)
  const cache = createCache({
    ttl: setting.ttlMs / 1_000,
    stale: setting.staleMs / 1_000,
    storage: storageOf(setting, redis),
  }).define('items', (id: Id) => setting.load(id))
  return {
    get: (id) => cache.items(id) as Promise<Item>,
    close: async () => redis?.disconnect(),
  }
}

function storageOf({ maxEntries }: Setting, redis: Redis | undefined) {
  if (redis === undefined) return { type: 'memory', options: { size: maxEntries } } as const
  // Its types follow whichever ioredis npm has put beside it; what it calls is in every major.
  const client = redis as unknown as StorageRedisOptions['client']
  return { type: 'redis', options: { client } } as const
}
