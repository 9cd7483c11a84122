// One engine at a time: catbox-memory or catbox-redis, behind a Policy. Stale values: `staleIn`, and
// the shortest `staleTimeout` that it takes, so that nobody waits for a refresh.

import { Client, Policy } from '@hapi/catbox'
import { Engine as MemoryEngine } from '@hapi/catbox-memory'
import { Engine as RedisEngine } from '@hapi/catbox-redis'
import { connectIoredis } from './connect.ts'
import type { Item, Opened, Setting } from './contender.ts'

export async function open({ tiers, url, ttlMs, staleMs, load }: Setting): Promise<Opened> {
  const redis = tiers === 'memory' ? undefined : await connectIoredis('ioredis5', url)
  const client =
    redis === undefined
      ? new Client<Item>(MemoryEngine)
      : new Client<Item>(new RedisEngine<Item>({ client: redis, partition: 'bench' }))
  await client.start()
  const policy = new Policy(
    {
      expiresIn: ttlMs + staleMs,
      ...(staleMs > 0 && { staleIn: ttlMs, staleTimeout: 1 }),
      generateTimeout: 30_000,
      generateFunc: async (id) => load(typeof id === 'string' ? id : id.id),
    },
    client,
    'items',
  )
  return {
    get: (id) => policy.get(String(id)) as Promise<Item>,
    set: (id, item) => policy.set(String(id), item, ttlMs + staleMs),
    close: async () => {
      await client.stop()
      redis?.disconnect()
    },
  }
}
