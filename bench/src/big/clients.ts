// Both clients in their newest major, with no option but the URL: as a store, and bare.

import type { Store } from 'breakwater'
import type { BigClient } from './plan.ts'

export interface BigConnected {
  store(): Promise<Store>
  set(key: string, bytes: Buffer): Promise<unknown>
  get(key: string): Promise<Buffer | null>
}

export async function connectBig(client: BigClient, url: string): Promise<BigConnected> {
  if (client === 'ioredis 6') {
    const { Redis } = await import('ioredis6')
    const redis = new Redis(url)
    await redis.ping()
    return {
      store: async () => (await import('breakwater/ioredis')).redisStore({ client: redis }),
      set: (key, bytes) => redis.set(key, bytes),
      get: (key) => redis.getBuffer(key),
    }
  }
  const { createClient, RESP_TYPES } = await import('redis6')
  const redis = createClient({ url })
  redis.on('error', (error: unknown) => console.error(error))
  await redis.connect()
  const reader = redis.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })
  return {
    store: async () => (await import('breakwater/node-redis')).redisStore({ client: redis }),
    set: (key, bytes) => redis.set(key, bytes),
    get: (key) => reader.get(key),
  }
}
