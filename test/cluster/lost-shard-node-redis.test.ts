// T102 by node-redis: what a cluster's lost master leaves alone.

import { describe } from 'vitest'
import { redisStore } from '../../src/redis/node-redis.ts'
import { heirCases, lostShardCases, type ShardClients } from '../support/lost-shard-cases.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'

describe.each(usualFlavours)(
  'what a lost shard leaves alone, $flavour',
  { timeout: 120_000 },
  (flavour) => {
    const clients = nodeRedisClients(flavour)
    const shardClients: ShardClients = {
      store: async (cluster, bus) => {
        const ear = clients.make(bus, { RESP: 3 })
        return redisStore({ client: await clients.cluster(cluster), bus: ear })
      },
      end: () => clients.end(),
    }
    // Half a minute each: the majors share them.
    if (flavour.major === 5) lostShardCases(shardClients)
    else heirCases(shardClients)
  },
)
