// One cache per process, for both handlers. It is made by the first request, and never in `next build`.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import { Redis } from 'ioredis'

let made

export function cache() {
  if (made !== undefined) return made
  const client = new Redis(process.env.REDIS_URL ?? 'redis://127.0.0.1:6379')
  client.on('error', () => {}) // without Redis each instance renders for itself
  return (made = createCache({
    namespace: 'example-next',
    ttl: '1h', // of what Next.js gives no lifetime
    store: redisStore({ client }),
    limit: { concurrency: 1_000 }, // a page waits for its own parts: never fewer than requests at once
    outageTtl: '30s',
  }))
}
