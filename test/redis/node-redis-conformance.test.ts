// The store's conformance suite on one server, by every node-redis that we claim.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { redisStore } from '../../src/redis/node-redis.ts'
import { storeCases } from '../../src/testing/store-suite.ts'
import { flavours, nodeRedisClients } from '../support/node-redis-clients.ts'
import { suiteRig } from '../support/node-redis-rig.ts'

for (const flavour of flavours) {
  describe(`redisStore by ${flavour.flavour}, single`, () => {
    let server: RedisServer
    const clients = nodeRedisClients(flavour)
    const rig = suiteRig()
    beforeAll(async () => {
      server = await startRedisServer()
    })
    afterEach(async () => {
      await rig.close()
      clients.end()
      await server.ask('FLUSHALL')
    })
    afterAll(() => server.stop())

    it.each([...storeCases])('$name', async ({ run }) => {
      await run(rig.on(() => redisStore({ client: clients.make(server) })))
    })
  })
}
