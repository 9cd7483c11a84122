// The usual Redis lock: SET NX PX with an owner's token, released only by its owner.

import type { Redis } from 'ioredis'

const lockMs = 5000
const release = `if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0`

export async function takeLock(redis: Redis, key: string, token: string): Promise<boolean> {
  return (await redis.set(key, token, 'PX', lockMs, 'NX')) === 'OK'
}

export async function releaseLock(redis: Redis, key: string, token: string): Promise<void> {
  await redis.eval(release, 1, key, token)
}
