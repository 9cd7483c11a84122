// Caches with queues in this process, each as a process of its own would have them, and what they told.

import { Redis } from 'ioredis'
import { onTestFinished } from 'vitest'
import type { Cache, CacheOptions } from '../../src/api.ts'
import { bullmqPrecompute, type BullmqPrecomputing } from '../../src/bullmq/index.ts'
import type { BullmqPrecomputeOptions } from '../../src/bullmq/option-types.ts'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'

export interface Told {
  readonly event: string
  readonly at: number
  readonly [name: string]: unknown
}

export interface Opened {
  readonly cache: Cache
  /** Adds the queue; to be called when the definitions are there, or before. */
  queue(options?: Partial<BullmqPrecomputeOptions>): BullmqPrecomputing
  readonly told: Told[]
}

const events = ['alert', 'loadFailed', 'storeFailed', 'callbackFailed', 'precompute'] as const

export function openCache(port: number, options: Partial<CacheOptions> = {}): Opened {
  const client = new Redis({ port, retryStrategy: () => 50 })
  client.on('error', () => {})
  const cache = createCache({
    namespace: 'jobs',
    ttl: '1h',
    precompute: false,
    store: redisStore({ client }),
    ...options,
  })
  const told: Told[] = []
  for (const event of events) {
    cache.on(event, (what) => void told.push({ ...what, event, at: Date.now() }))
  }
  onTestFinished(async () => {
    await cache.close()
    client.disconnect()
  })
  return {
    cache,
    told,
    queue: (how = {}) => bullmqPrecompute({ cache, connection: { port }, ...how }),
  }
}
