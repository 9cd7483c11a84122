// Checked by `npm run types`, never run: the clients of both majors of node-redis, as users make
// them, are what `redisStore` takes; others are not.

import { Redis } from 'ioredis'
import * as redis5 from 'redis5'
import * as redis6 from 'redis'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/node-redis.ts'
import type { Client, RedisStoreOptions } from '../../src/redis/node-redis.ts'

declare const url: string
declare const maybe: Client | false | undefined
const script6 = redis6.defineScript({
  SCRIPT: 'return 1',
  NUMBER_OF_KEYS: 0,
  parseCommand: () => {},
  transformReply: () => 1,
})

redisStore({ client: redis6.createClient() })
redisStore({ client: redis6.createClient({ url, RESP: 2, database: 3 }) })
redisStore({
  client: redis6.createClient({ scripts: { script6 }, commandOptions: { timeout: 5 } }),
})
redisStore({ client: redis6.createClient({ url, clientSideCache: { ttl: 0 } }) })
redisStore({ client: redis6.createClient().on('error', () => {}) })
redisStore({
  client: redis6.createClient().withTypeMapping({ [redis6.RESP_TYPES.BLOB_STRING]: Buffer }),
})
redisStore({ client: redis6.createClient(), bus: redis6.createClient() })
redisStore({ client: redis6.createCluster({ rootNodes: [{ url }] }), bus: redis6.createClient() })
redisStore({ client: redis6.createCluster({ rootNodes: [{ url }], RESP: 2, useReplicas: true }) })
redisStore({ client: redis6.createSentinel({ name: 'a', sentinelRootNodes: [] }) })

redisStore({ client: redis5.createClient() })
redisStore({ client: redis5.createClient({ url, RESP: 3 }), bus: false })
redisStore({ client: redis5.createCluster({ rootNodes: [{ url }] }), replicaReads: true })
redisStore({ client: redis5.createSentinel({ name: 'a', sentinelRootNodes: [] }) })

async function connected(): Promise<void> {
  const client = await redis6
    .createClient()
    .on('error', () => {})
    .connect()
  createCache({ namespace: 'shop', ttl: '60s', store: redisStore({ client }) })
}
void connected

const options: RedisStoreOptions = { client: redis6.createClient(), bus: maybe }
redisStore({ ...options, replicaReads: undefined, bus: undefined })

// @ts-expect-error a client is needed
redisStore({})
// @ts-expect-error a client, not its address
redisStore({ client: url })
// @ts-expect-error the client of ioredis has its own subpath
redisStore({ client: new Redis() })
// @ts-expect-error `true` says nothing
redisStore({ client: redis6.createClient(), bus: true })
// @ts-expect-error misspelt
redisStore({ client: redis6.createClient(), replicaRead: true })
