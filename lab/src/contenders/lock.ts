// The usual Redis lock: SET NX PX with an owner's token, released only by its owner.

import type { Redis } from 'ioredis'
import type { OnLease } from './contender.ts'

const lockMs = 5000
const release = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

export interface Lock {
  take(key: string, token: string): Promise<boolean>
  release(key: string, token: string): Promise<void>
}

export function redisLock(redis: Redis, onLease: OnLease): Lock {
  return {
    async take(key, token) {
      const isOurs = (await redis.set(key, token, 'PX', lockMs, 'NX')) === 'OK'
      if (isOurs) onLease('taken')
      return isOurs
    },
    async release(key, token) {
      onLease('released')
      await redis.eval(release, 1, key, token)
    },
  }
}
