import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { until } from '../support/open-session.ts'

let server: RedisServer
beforeAll(async () => {
  server = await startRedisServer()
})
afterAll(() => server.stop())

it.each(majors)(
  'T157 fifteen caches on one client of $major warn of nothing, and leave nothing',
  async ({ Redis }) => {
    const warned: string[] = []
    const onWarning = (warning: Error): void => void warned.push(warning.message)
    process.on('warning', onWarning)
    const clients = clientsOf(() => server, Redis)
    const client = clients.make()
    const before = client.listenerCount('ready') + client.listenerCount('close')
    const caches = Array.from({ length: 15 }, (_, n) =>
      createCache({ namespace: `many${n}`, ttl: '1m', store: redisStore({ client }) }),
    )
    await until(() => caches.every((cache) => cache.health().status === 'ok'))
    await Promise.all(caches.map((cache) => cache.close()))
    await new Promise((resolve) => setImmediate(resolve))
    process.off('warning', onWarning)
    expect(warned).toEqual([])
    expect(client.listenerCount('ready') + client.listenerCount('close')).toBe(before)
    clients.end()
  },
)
