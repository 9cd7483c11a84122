// A script that uses a cache as it is told, and then has nothing more to do: it must end by itself.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { memoryStore } from 'breakwater/testing'
import { Redis } from 'ioredis'

const { how, connection, close } = JSON.parse(process.argv[2])
const client = how === 'redis' ? new Redis({ ...connection, retryStrategy: () => 50 }) : undefined
client?.on('error', () => {})
const store =
  how === 'redis' ? redisStore({ client }) : how === 'memory store' ? memoryStore() : undefined
const cache = createCache({
  namespace: 'ends',
  ttl: '1h',
  staleWhileRevalidate: '1h',
  connectTimeout: '200ms',
  store,
})
const item = cache.define({ name: 'item', load: async (id) => `value ${id}` })
for (let n = 0; n < 10; n++) await item.get(n)
await item.set(1, 'x').catch(() => {})
await item.invalidate(2).catch(() => {})
await item.refresh(3)
if (close === 'close') await cache.close()
if (close === 'close' && client !== undefined && client.status === 'end') throw new Error('closed')
client?.disconnect()
console.log('done')
