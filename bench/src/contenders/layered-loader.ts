// Memory, Redis and notifications between processes, as its README sets up a Loader. It serves
// nothing stale; its nearest thing refreshes what is read shortly before expiry.

import type { Redis } from 'ioredis'
import { createNotificationPair, Loader, RedisCache } from 'layered-loader'
import { connectIoredis } from './connect.ts'
import type { Item, Opened, Setting } from './contender.ts'

export async function open(setting: Setting): Promise<Opened> {
  const clients: Redis[] = []
  const connect = async (): Promise<Redis> => {
    const client = await connectIoredis('ioredis5', setting.url)
    clients.push(client)
    return client
  }
  const loader = new Loader<Item>({
    ...(await tiersOf(setting, connect)),
    dataSourceGetOneFn: (id) => setting.load(id),
    dataSourceGetManyFn: (ids) => Promise.all(ids.map((id) => setting.load(id))),
    cacheKeyFromValueResolver: (item) => String(item.id),
  })
  await loader.init()
  return {
    get: (id) => loader.get(String(id)) as Promise<Item>,
    getMany: (ids) => loader.getMany(ids.map(String)),
    set: (id, item) => loader.forceSetValue(String(id), item),
    close: async () => {
      await loader.close()
      for (const client of clients) client.disconnect()
    },
  }
}

async function tiersOf(
  { tiers, ttlMs, staleMs, maxEntries }: Setting,
  connect: () => Promise<Redis>,
) {
  const early = staleMs > 0 && { ttlLeftBeforeRefreshInMsecs: ttlMs / 4 }
  const ttl = { ttlInMsecs: ttlMs, ...early }
  const memory = { cacheType: 'lru-map', maxItems: maxEntries, ...ttl } as const
  if (tiers === 'memory') return { inMemoryCache: memory }
  const redis = new RedisCache<Item>(await connect(), { json: true, prefix: 'items', ...ttl })
  if (tiers === 'redis') return { asyncCache: redis }
  const { publisher, consumer } = createNotificationPair<Item>({
    channel: 'items',
    consumerRedis: await connect(),
    publisherRedis: await connect(),
  })
  return {
    inMemoryCache: memory,
    asyncCache: redis,
    notificationPublisher: publisher,
    notificationConsumer: consumer,
  }
}
