// "Layer 1 / layer 2" of its documentation: memory as primary, @keyv/redis as secondary, blocking.
// With `nonBlocking` a read never waits for Redis: it would load what Redis has.

import KeyvRedis, { createKeyv as createRedisKeyv } from '@keyv/redis'
import { Cacheable, createKeyv } from 'cacheable'
import type { Id, Item, Opened, Setting } from './contender.ts'

export async function open(setting: Setting): Promise<Opened> {
  const cache = new Cacheable({ ...storesOf(setting), ttl: setting.ttlMs })
  cache.on('error', (error: unknown) => console.error(error))
  return {
    get: (id) => cache.getOrSet(keyOf(id), () => setting.load(id)) as Promise<Item>,
    getMany: (ids) => cache.getMany<Item>(ids.map(keyOf)),
    set: (id, item) => cache.set(keyOf(id), item),
    close: () => cache.disconnect(),
  }
}

const keyOf = (id: Id): string => `items:${id}`

function storesOf({ tiers, url, maxEntries }: Setting) {
  if (tiers === 'redis') return { primary: createRedisKeyv(url) }
  const primary = createKeyv({ lruSize: maxEntries })
  return tiers === 'memory' ? { primary } : { primary, secondary: new KeyvRedis(url) }
}
