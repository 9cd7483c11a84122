// breakwater as its README shows it: a namespace, a store, a ttl. The second contender adds one
// option; the faults shorten the lease.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import type { Redis } from 'ioredis'
import type { Contender, Load } from './contender.ts'

export function breakwater(options: {
  redis: Redis | undefined
  namespace: string
  ttlMs: number
  staleWhileRevalidateMs: number
  leaseMs: number | undefined
  load: Load
}): Contender {
  const { redis, namespace, ttlMs, staleWhileRevalidateMs, leaseMs, load } = options
  const cache = createCache({
    namespace,
    ttl: ttlMs,
    ...(redis === undefined ? {} : { store: redisStore({ client: redis }) }),
    ...(staleWhileRevalidateMs === 0 ? {} : { staleWhileRevalidate: staleWhileRevalidateMs }),
    ...(leaseMs === undefined ? {} : { lease: leaseMs }),
  })
  const trending = cache.define({ name: 'trending', load: (category: string) => load(category) })
  return {
    trending: (category) => trending.get(category),
    invalidate: (category) => trending.invalidate(category),
    health: () => cache.health(),
    cache,
  }
}
