// Each cache as its documentation would have a shared page cache set up, with all that makes it
// quick here: bentocache with its memory tier and soft timeout 0, catbox with its shortest stale
// timeout. All use ioredis 5, which three of them ask for.

import { Client, Policy } from '@hapi/catbox'
import { Engine } from '@hapi/catbox-redis'
import { createCache as createDedupe, type StorageRedisOptions } from 'async-cache-dedupe'
import { BentoCache, bentostore } from 'bentocache'
import { memoryDriver } from 'bentocache/drivers/memory'
import { redisBusDriver, redisDriver } from 'bentocache/drivers/redis'
import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'
import type { Page } from '../measure/product.ts'
import type { ContenderSettings, MakeContender } from './contender.ts'

export const contenders: ReadonlyMap<string, MakeContender> = new Map([
  ['breakwater', breakwater],
  ['bentocache', bento],
  ['async-cache-dedupe', dedupe('redis')],
  ['async-cache-dedupe, memory only', dedupe('memory')],
  ['catbox', catbox],
])

async function breakwater({ url, ttlMs, staleMs, load }: ContenderSettings) {
  const client = new Redis(url)
  const cache = createCache({
    namespace: 'bench',
    store: redisStore({ client }),
    ttl: ttlMs,
    staleWhileRevalidate: staleMs,
  })
  const pages = cache.define({ name: 'pages', load: (key: string) => load(key) })
  const close = async (): Promise<void> => {
    await cache.close()
    client.disconnect()
  }
  return { get: (key: string) => pages.get(key), close }
}

async function bento({ url, ttlMs, staleMs, load }: ContenderSettings) {
  const { hostname: host, port } = new URL(url)
  const cache = new BentoCache({
    default: 'pages',
    ttl: ttlMs,
    grace: ttlMs + staleMs,
    timeout: 0,
    stores: {
      pages: bentostore()
        .useL1Layer(memoryDriver({ maxItems: 10_000 }))
        .useL2Layer(redisDriver({ connection: new Redis(url) }))
        .useBus(redisBusDriver({ connection: { host, port: Number(port) } })),
    },
  })
  return {
    get: (key: string) => cache.getOrSet({ key: `pages:${key}`, factory: () => load(key) }),
    close: () => cache.disconnectAll(),
  }
}

function dedupe(type: 'redis' | 'memory'): MakeContender {
  return async ({ url, ttlMs, staleMs, load }) => {
    const redis = new Redis(url)
    // Its types follow whichever ioredis npm has put beside it; what it calls is in every major.
    const client = redis as unknown as StorageRedisOptions['client']
    const cache = createDedupe({
      ttl: ttlMs / 1_000,
      stale: staleMs / 1_000,
      storage: type === 'memory' ? { type } : { type, options: { client } },
    }).define('pages', load)
    return {
      get: async (key) => (await cache.pages(key)) as Page,
      close: async () => redis.disconnect(),
    }
  }
}

async function catbox({ url, ttlMs, staleMs, load }: ContenderSettings) {
  const redis = new Redis(url)
  const client = new Client<Page>(new Engine<Page>({ client: redis, partition: 'pages' }))
  await client.start()
  const policy = new Policy(
    {
      expiresIn: ttlMs + staleMs,
      staleIn: ttlMs,
      staleTimeout: 1,
      generateTimeout: 30_000,
      generateFunc: async (id) => load(typeof id === 'string' ? id : id.id),
    },
    client,
    'pages',
  )
  const close = async (): Promise<void> => {
    await client.stop()
    redis.disconnect()
  }
  return { get: async (key: string) => (await policy.get(key)) as Page, close }
}
