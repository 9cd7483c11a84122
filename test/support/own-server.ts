// A Redis for the tests of one file or group, and a connection of the tests' own to look at it.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll } from 'vitest'

export interface OwnServer {
  readonly port: number
  readonly admin: Redis
  /** It answers nobody until it is thawed. */
  freeze(): void
  thaw(): void
}

/** There from the first test on. */
export function ownServer(): OwnServer {
  let server: RedisServer
  let admin: Redis
  beforeAll(async () => {
    server = await startRedisServer()
    admin = new Redis({ port: server.port })
  })
  afterAll(async () => {
    admin.disconnect()
    await server.stop()
  })
  return {
    get port() {
      return server.port
    },
    get admin() {
      return admin
    },
    freeze: () => server.freeze(),
    thaw: () => server.thaw(),
  }
}
