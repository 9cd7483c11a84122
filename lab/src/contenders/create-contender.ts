// From the settings of an API process to its contender, connected and ready.

import { Redis } from 'ioredis'
import type { ApiSettings } from '../api/messages.ts'
import { breakwaterAhead } from './breakwater-ahead.ts'
import { breakwater } from './breakwater.ts'
import type { Contender, Load, OnLease } from './contender.ts'
import { lockPoll } from './lock-poll.ts'
import { lockRetry } from './lock-retry.ts'
import { type Lock, redisLock } from './lock.ts'
import { plain } from './plain.ts'
import { memoryShelf, redisShelf } from './shelf.ts'

export async function createContender(
  settings: ApiSettings,
  load: Load,
  onLease: OnLease,
): Promise<Contender> {
  const { contender, namespace, ttlMs, leaseMs } = settings
  const redis = settings.redis === undefined ? undefined : new Redis(settings.redis.url)
  redis?.on('error', () => undefined) // it may be killed by a button: whoever asks it learns so
  await redis?.ping()
  const common = { namespace, ttlMs, load }
  // breakwater loads under a lease, where it has a store to hold one in.
  const leased = { ...common, redis, load: tellingOf(load, onLease) }
  switch (contender) {
    case 'plain':
      return plain({ ...common, shelf: redis === undefined ? memoryShelf() : redisShelf(redis) })
    case 'lock-retry':
      return lockRetry({ ...common, ...lockOf(redis, onLease) })
    case 'lock-poll':
      return lockPoll({ ...common, ...lockOf(redis, onLease) })
    case 'breakwater':
      return breakwater({ ...leased, leaseMs, staleWhileRevalidateMs: 0 })
    case 'breakwater-swr':
      return breakwater({ ...leased, leaseMs, staleWhileRevalidateMs: ttlMs })
    case 'breakwater-ahead':
      return breakwaterAhead({ ...leased, everyMs: ttlMs })
  }
}

function tellingOf(load: Load, onLease: OnLease): Load {
  return async (category, reason) => {
    onLease('taken')
    try {
      return await load(category, reason)
    } finally {
      onLease('released')
    }
  }
}

function lockOf(redis: Redis | undefined, onLease: OnLease): { redis: Redis; lock: Lock } {
  if (redis === undefined) throw new Error('expected a Redis for this contender, got none')
  return { redis, lock: redisLock(redis, onLease) }
}
