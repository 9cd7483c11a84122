// breakwater with precompute: the hot category is made anew by schedule, once per period in the whole
// fleet, whether or not anyone asks. A period is as long as the other contenders' ttl, so what is
// served is no older than theirs.

import { createCache } from 'breakwater'
import { redisStore } from 'breakwater/ioredis'
import type { Redis } from 'ioredis'
import { hotCategory } from '../shop/schema.ts'
import type { Contender, Load } from './contender.ts'

const lives = 3 // periods: the next two refreshes may fail

export function breakwaterAhead(options: {
  redis: Redis | undefined
  namespace: string
  everyMs: number
  load: Load
}): Contender {
  const { redis, namespace, everyMs, load } = options
  const cache = createCache({
    namespace,
    ttl: everyMs * lives,
    ...(redis === undefined ? {} : { store: redisStore({ client: redis }) }),
  })
  const trending = cache.define({
    name: 'trending',
    load: (category: string, { reason }) => load(category, reason),
    precompute: { every: everyMs, args: [hotCategory], onMiss: 'wait' },
  })
  return {
    trending: (category) => trending.get(category),
    invalidate: (category) => trending.invalidate(category),
    health: () => cache.health(),
    cache,
  }
}
