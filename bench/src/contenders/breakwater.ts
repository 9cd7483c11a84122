// Both tiers, all options at their defaults but lifetimes and size.

import { createCache, type Store } from 'breakwater'
import { connectIoredis, connectNodeRedis } from './connect.ts'
import type { ClientName, Id, Item, Opened, Setting } from './contender.ts'

export interface Extras {
  readonly compress?: false
  /** Who is told of what it does. */
  readonly told?: 'Prometheus' | 'Prometheus and OpenTelemetry'
  readonly verify?: number
}

export async function open(
  client: ClientName,
  setting: Setting,
  { compress, told, verify }: Extras = {},
): Promise<Opened> {
  const { tiers, maxEntries } = setting
  const shared = tiers === 'memory' ? undefined : await storeOn(client, setting.url)
  const cache = createCache({
    // Two in one process must not read each other's frames.
    namespace: compress === false ? 'bench-uncompressed' : 'bench',
    verify,
    store: shared?.store,
    memory: tiers === 'redis' ? false : { maxEntries, maxBytes: '256MiB' },
    storeTimeout: setting.patient ? '5s' : undefined,
    compress,
    ttl: setting.ttlMs,
    staleWhileRevalidate: setting.staleMs,
  })
  if (told !== undefined) {
    const { prometheusMetrics } = await import('breakwater/prometheus')
    const { Registry } = await import('prom-client')
    prometheusMetrics({ cache, registry: new Registry() })
  }
  if (told === 'Prometheus and OpenTelemetry') {
    const { openTelemetry } = await import('breakwater/opentelemetry')
    openTelemetry({ cache })
  }
  const seen = new Map<Id, Item>()
  const items = cache.define({
    name: 'items',
    load: async (id: Id, { reason }): Promise<Item> => {
      // What is looked at again is no load for a caller.
      if (reason === 'verify') return seen.get(id)!
      const item = await setting.load(id)
      if (verify !== undefined) seen.set(id, item)
      return item
    },
  })
  return {
    get: (id) => items.get(id),
    getMany: (ids) => items.getMany(ids),
    set: (id, item) => items.set(id, item),
    close: async () => {
      await cache.close()
      shared?.disconnect()
    },
  }
}

async function storeOn(
  client: ClientName,
  url: string,
): Promise<{ store: Store; disconnect(): void }> {
  if (client === 'redis5') {
    const { redisStore } = await import('breakwater/node-redis')
    const redis = await connectNodeRedis(url)
    return { store: redisStore({ client: redis }), disconnect: () => redis.destroy() }
  }
  const { redisStore } = await import('breakwater/ioredis')
  const redis = await connectIoredis(client, url)
  return { store: redisStore({ client: redis }), disconnect: () => redis.disconnect() }
}
