// The careful form of the lock: losers keep looking every 50 ms, and whoever finds the lock free
// takes it. One query per expiry as long as the query is quicker than the lock; everybody waits.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Trending } from '../shop/queries.ts'
import type { Contender, Load } from './contender.ts'
import type { Lock } from './lock.ts'

const pollMs = 50

export function lockPoll(options: {
  redis: Redis
  lock: Lock
  namespace: string
  ttlMs: number
  load: Load
}): Contender {
  const { redis, lock, namespace, ttlMs, load } = options
  const keyOf = (category: string): string => `${namespace}:trending:${category}`
  return {
    async trending(category) {
      const key = keyOf(category)
      const lockKey = `${key}:lock`
      const token = randomUUID()
      for (;;) {
        const cached = await redis.get(key)
        if (cached !== null) return JSON.parse(cached) as Trending
        if (await lock.take(lockKey, token)) {
          try {
            const filled = await redis.get(key) // between our GET and our lock
            if (filled !== null) return JSON.parse(filled) as Trending
            const value = await load(category)
            await redis.set(key, JSON.stringify(value), 'PX', ttlMs)
            return value
          } finally {
            await lock.release(lockKey, token)
          }
        }
        await sleep(pollMs)
      }
    },
    async invalidate(category) {
      await redis.del(keyOf(category))
    },
  }
}
