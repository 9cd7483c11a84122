/** The commands by whatever node-redis client the user passes: one server, a cluster or Sentinel. */
import type { RedisCommands } from './commands.ts'
import type { NodeRedisClient } from './node-redis-client.ts'
import { clusterCommands } from './node-redis-cluster.ts'
import { sentinelCommands } from './node-redis-sentinel.ts'
import { singleCommands } from './node-redis-single.ts'

export function nodeRedisCommands(checked: NodeRedisClient, replicaReads: boolean): RedisCommands {
  switch (checked.kind) {
    case 'single':
      return singleCommands(checked.client)
    case 'cluster':
      return clusterCommands(checked.client, replicaReads)
    case 'sentinel':
      return sentinelCommands(checked.client, replicaReads)
  }
}
