// The cache that holder and waiter both have. Only the holder ever loads.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'

export function wakeCache<Value>(url: string, load: (key: string) => Promise<Value>) {
  const client = new Redis(url)
  const cache = createCache({ namespace: 'wake', store: redisStore({ client }), ttl: '10m' })
  const values = cache.define({ name: 'values', load: (key: string) => load(key) })
  return {
    get: (key: string): Promise<Value> => values.get(key),
    close: async (): Promise<void> => {
      await cache.close()
      client.disconnect()
    },
  }
}
