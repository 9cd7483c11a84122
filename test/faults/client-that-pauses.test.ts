// A client that pauses for long between its attempts to connect, as ioredis 6 does by itself after a
// while: our own connection finds out sooner that the server is there.

import { startRedisServer, startTcpProxy } from '@breakwater/rig'
import { expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { clientsOf, majors } from '../support/ioredis-majors.ts'
import { sleep, until } from '../support/open-session.ts'

it.each(majors)(
  '$major: L2 is used again as soon as the server is known to be there',
  async ({ Redis }) => {
    const server = await startRedisServer()
    const proxy = await startTcpProxy(server.connection as { host: string; port: number })
    const clients = clientsOf(() => server, Redis)
    const client = clients.make({ ...proxy.connection, retryStrategy: () => 20_000 })
    const cache = createCache({ namespace: 'pause', ttl: '60s', store: redisStore({ client }) })
    const well = () => until(() => cache.health().status === 'ok')
    try {
      await well()
      await proxy.refuse(true)
      await sleep(200)
      await proxy.refuse(false)
      await well()
      expect(await client.ping()).toBe('PONG')
    } finally {
      await cache.close()
      clients.end()
      await proxy.close()
      await server.stop()
    }
  },
)
