// `bus: false` on a real Redis: waiters poll, and everything else holds.

import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'

let server: RedisServer
const clients: Redis[] = []
const caches: ReturnType<typeof createCache>[] = []

beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(async () => {
  await Promise.all(caches.map((cache) => cache.close()))
  for (const client of clients) client.disconnect()
  await server.stop()
})

function process(namespace: string, options: object = {}): ReturnType<typeof createCache> {
  const client = new Redis(server.connection)
  clients.push(client)
  const store = redisStore({ client, bus: false })
  const cache = createCache({ namespace, ttl: '60s', storeTimeout: '2s', store, ...options })
  caches.push(cache)
  return cache
}

it('one load for callers in four processes, and all get its value', async () => {
  let loads = 0
  const calls = Array.from({ length: 4 }, () => process('one')).flatMap((cache) => {
    const item = cache.define({
      name: 'item',
      load: async (_id: string) => {
        loads++
        await new Promise((resolve) => setTimeout(resolve, 300))
        return 'value'
      },
    })
    return Array.from({ length: 25 }, () => item.get('k'))
  })
  expect(new Set(await Promise.all(calls))).toEqual(new Set(['value']))
  expect(loads).toBe(1)
  expect(caches[0]!.health()).toMatchObject({ status: 'ok', bus: 'none' })
})

it('a failing load rejects those who polled for it as well, after one load', async () => {
  let loads = 0
  const calls = Array.from({ length: 3 }, () => process('fails')).flatMap((cache) => {
    const item = cache.define({
      name: 'item',
      load: async (_id: string): Promise<string> => {
        loads++
        await new Promise((resolve) => setTimeout(resolve, 300))
        throw Object.assign(new Error('no'), { code: 'E_NO' })
      },
    })
    return Array.from({ length: 5 }, () => item.get('k'))
  })
  const ends = await Promise.allSettled(calls)
  expect(ends.every(({ status }) => status === 'rejected')).toBe(true)
  expect(loads).toBe(1)
})

it('a load that is given up frees the key for one who waits elsewhere', async () => {
  const controller = new AbortController()
  let loads = 0
  const load = async (_id: string): Promise<string> => {
    if (++loads === 1) await new Promise(() => {})
    return 'value'
  }
  const one = process('abort', { loadTimeout: '2s' }).define({ name: 'item', load })
  const left = one.get('k', { signal: controller.signal }).catch((error: unknown) => error)
  while (loads === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  controller.abort('left')
  expect(await left).toBe('left')
  const two = process('abort').define({ name: 'item', load })
  expect(await two.get('k')).toBe('value')
})
