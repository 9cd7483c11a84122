// The caches that are weighed. Each is filled with the same small values, addressed by a number.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import { LRUCache } from 'lru-cache'

export interface Filled {
  get(id: number): Promise<unknown>
  close(): Promise<unknown>
}

type Fill = (plan: { readonly entries: number; readonly url: string }) => Promise<Filled>

const value = (id: number) => ({
  id,
  title: `Mechanical keyboard ${id}`,
  tags: [`layout-${id}`],
  price: { amount: 4_999 + id, currency: 'EUR' },
})

export const caches: ReadonlyMap<string, Fill> = new Map<string, Fill>([
  ['breakwater, in memory alone', ({ entries }) => breakwater(entries, undefined)],
  ['breakwater, with Redis', ({ entries, url }) => breakwater(entries, url)],
  ['lru-cache', lru],
])

async function breakwater(entries: number, url: string | undefined): Promise<Filled> {
  const client = url === undefined ? undefined : new Redis(url)
  const cache = createCache({
    namespace: 'weigh',
    store: client && redisStore({ client }),
    memory: { maxEntries: entries, maxBytes: '256MiB' },
    ttl: '1h',
  })
  const products = cache.define({ name: 'products', load: async (id: number) => value(id) })
  for (let id = 0; id < entries; id += 1) await products.get(id)
  await cache.idle()
  const close = async (): Promise<void> => {
    await cache.close()
    client?.disconnect()
  }
  return { get: (id) => products.get(id), close }
}

async function lru({ entries }: { readonly entries: number }): Promise<Filled> {
  const cache = new LRUCache<string, object>({ max: entries })
  for (let id = 0; id < entries; id += 1) cache.set(`products:${id}`, value(id))
  return { get: async (id) => cache.get(`products:${id}`), close: async () => undefined }
}
