// The store's conformance suite on a cluster, by every node-redis that we claim.

import { startRedisCluster, type RedisCluster } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, describe, it } from 'vitest'
import { redisStore } from '../../src/redis/node-redis.ts'
import { storeCases } from '../../src/testing/store-suite.ts'
import { flavours, nodeRedisClients } from '../support/node-redis-clients.ts'
import { suiteRig } from '../support/node-redis-rig.ts'

let servers: RedisCluster
beforeAll(async () => {
  servers = await startRedisCluster({ replicas: 0 })
})
afterAll(() => servers.stop())

for (const flavour of flavours) {
  describe(`redisStore by ${flavour.flavour}, cluster`, () => {
    const clients = nodeRedisClients(flavour)
    const rig = suiteRig()
    afterEach(async () => {
      await rig.close()
      clients.end()
      await Promise.all(servers.nodes.map((node) => node.ask('FLUSHALL')))
    })

    it.each([...storeCases])('$name', async ({ run }) => {
      const store = async () => redisStore({ client: await clients.cluster(servers) })
      await run(rig.onCluster(store))
    })
  })
}
