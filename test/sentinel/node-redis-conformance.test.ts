// The store's conformance suite through Sentinel, by every node-redis that we claim.

import { startRedisSentinel, type RedisSentinel } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { redisStore } from '../../src/redis/node-redis.ts'
import { storeCases } from '../../src/testing/store-suite.ts'
import { flavours, nodeRedisClients, type TestSentinel } from '../support/node-redis-clients.ts'
import { suiteRig } from '../support/node-redis-rig.ts'

let servers: RedisSentinel
beforeAll(async () => {
  servers = await startRedisSentinel({ replicas: 1, sentinels: 1 })
})
afterAll(() => servers.stop())

for (const flavour of flavours) {
  describe(`redisStore by ${flavour.flavour}, Sentinel`, () => {
    const clients = nodeRedisClients(flavour)
    const rig = suiteRig()
    // One for all, as it takes a while to connect: sessions on it are processes all the same.
    let client: TestSentinel
    beforeAll(async () => {
      client = await clients.sentinel(servers)
    })
    afterEach(async () => {
      await rig.close()
      await servers.servers[0]!.ask('FLUSHALL')
    })
    afterAll(() => clients.end())

    it.each([...storeCases])('$name', async ({ run }) => {
      await run(rig.on(() => redisStore({ client })))
    })
  })
}
