// What makes the cache. Both handlers are given it, and share what it makes: one cache per process, made
// by the first request, and never in `next build`.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'

export function cache() {
  const client = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
  client.on('error', () => {}) // the cache tells of it: `health()`, events
  return createCache({
    namespace: 'example-next',
    ttl: '1h', // of what Next.js gives no lifetime
    store: redisStore({ client }),
    storeTimeout: '500ms', // Next.js loads a route with its first request, and nothing else happens then
    limit: { concurrency: 1_000 }, // a page waits for its own parts: more than requests at once
    outageTtl: '30s',
  })
}
