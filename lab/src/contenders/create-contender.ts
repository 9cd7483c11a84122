// From the settings of an API process to its contender, connected and ready.

import { Redis } from 'ioredis'
import type { ApiSettings } from '../api/messages.ts'
import { breakwaterAhead } from './breakwater-ahead.ts'
import { breakwater } from './breakwater.ts'
import type { Contender, Load } from './contender.ts'
import { lockPoll } from './lock-poll.ts'
import { lockRetry } from './lock-retry.ts'
import { plain } from './plain.ts'
import { memoryShelf, redisShelf } from './shelf.ts'

export async function createContender(settings: ApiSettings, load: Load): Promise<Contender> {
  const { contender, namespace, ttlMs, leaseMs } = settings
  const redis = settings.redis === undefined ? undefined : new Redis(settings.redis.url)
  await redis?.ping()
  const common = { namespace, ttlMs, load }
  switch (contender) {
    case 'plain':
      return plain({ ...common, shelf: redis === undefined ? memoryShelf() : redisShelf(redis) })
    case 'lock-retry':
      return lockRetry({ ...common, redis: needed(redis) })
    case 'lock-poll':
      return lockPoll({ ...common, redis: needed(redis) })
    case 'breakwater':
      return breakwater({
        ...common,
        redis,
        leaseMs,
        staleWhileRevalidateMs: 0,
      })
    case 'breakwater-swr':
      return breakwater({
        ...common,
        redis,
        leaseMs,
        staleWhileRevalidateMs: ttlMs,
      })
    case 'breakwater-ahead':
      return breakwaterAhead({ ...common, redis, everyMs: ttlMs })
  }
}

function needed(redis: Redis | undefined): Redis {
  if (redis === undefined) throw new Error('expected a Redis for this contender, got none')
  return redis
}
