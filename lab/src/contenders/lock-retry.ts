// The recipe that most articles give: one caller takes a lock (owner token, Lua release), the others
// take the stale copy that is kept under a second key, else wait once and look again, and then,
// so that nobody is left without an answer, query the database themselves.

import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Trending } from '../shop/queries.ts'
import type { Contender, Load } from './contender.ts'
import type { Lock } from './lock.ts'

const retryMs = 120
const staleFor = 10 // times the ttl

export function lockRetry(options: {
  redis: Redis
  lock: Lock
  namespace: string
  ttlMs: number
  load: Load
}): Contender {
  const { redis, lock, namespace, ttlMs, load } = options
  const keysOf = (category: string): { key: string; stale: string; lockKey: string } => {
    const key = `${namespace}:trending:${category}`
    return { key, stale: `${key}:stale`, lockKey: `${key}:lock` }
  }
  return {
    async trending(category) {
      const { key, stale, lockKey } = keysOf(category)
      const cached = await redis.get(key)
      if (cached !== null) return JSON.parse(cached) as Trending

      const token = randomUUID()
      if (await lock.take(lockKey, token)) {
        try {
          const value = await load(category)
          const text = JSON.stringify(value)
          await redis
            .pipeline()
            .set(key, text, 'PX', ttlMs)
            .set(stale, text, 'PX', ttlMs * staleFor)
            .exec()
          return value
        } finally {
          await lock.release(lockKey, token)
        }
      }

      const old = await redis.get(stale)
      if (old !== null) return JSON.parse(old) as Trending
      await sleep(retryMs)
      const again = await redis.get(key)
      return again === null ? load(category) : (JSON.parse(again) as Trending)
    },
    async invalidate(category) {
      const { key, stale } = keysOf(category)
      await redis.del(key, stale)
    },
  }
}
