// Every client of the ioredis family that we claim is one for the types too, single and cluster.

import { Cluster, Redis } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey'
import { redisStore } from '../../src/redis/ioredis.ts'

const node = { host: '127.0.0.1', port: 6379 }

redisStore({ client: new Redis(node), bus: new Redis(node) })
redisStore({ client: new Redis5(node), bus: new Redis5(node) })
redisStore({ client: new Valkey(node), bus: new Valkey(node) })
redisStore({ client: new Redis({ sentinels: [node], name: 'main' }), bus: false })
redisStore({ client: new Cluster([node]), bus: new Redis(node) })
redisStore({ client: new Cluster5([node], { scaleReads: 'slave' }), replicaReads: true })
redisStore({ client: new ValkeyCluster([node]) })

// @ts-expect-error an address is no client
redisStore({ client: 'redis://localhost' })
