// "Multi-tier" of its documentation: memory, Redis and bus. Its L1 keeps JSON text by default.
// Stale values: a grace period and a soft timeout of 0, so that nobody waits for a refresh.

import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis'
import { connectIoredis } from './connect.ts'
import type { Opened, Setting } from './contender.ts'

export async function open(setting: Setting): Promise<Opened> {
  const { ttlMs, staleMs, load } = setting
  const cache = new BentoCache({
    default: 'items',
    ttl: ttlMs,
    ...(staleMs > 0 && { grace: ttlMs + staleMs, timeout: 0 }),
    stores: { items: await storeOf(setting) },
  })
  return {
    get: (id) => cache.getOrSet({ key: `items:${id}`, factory: () => load(id) }),
    set: (id, item) => cache.set({ key: `items:${id}`, value: item }),
    close: () => cache.disconnectAll(),
  }
}

async function storeOf({ tiers, url, maxEntries }: Setting) {
  const memory = () => memoryDriver({ maxItems: maxEntries })
  if (tiers === 'memory') return bentostore().useL1Layer(memory())
  const redis = redisDriver({ connection: await connectIoredis('ioredis5', url) })
  if (tiers === 'redis') return bentostore().useL2Layer(redis)
  const { hostname: host, port } = new URL(url)
  return bentostore()
    .useL1Layer(memory())
    .useL2Layer(redis)
    .useBus(redisBusDriver({ connection: { host, port: Number(port) } }))
}
