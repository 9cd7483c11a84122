// Caches on a cluster, each with a client of its own as another process would have, which end
// together. A deadline of the store that is long: a noisy machine must not make a count differ.

import type { RedisCluster } from '@breakwater/rig'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore, type RedisStoreOptions } from '../../src/redis/ioredis.ts'
import { clusterClientsOf, type Major } from './ioredis-majors.ts'
import { well } from './well.ts'

export interface ClusterCache extends Cache {
  /** What the cache told of the store's faults, as text. */
  readonly faults: readonly string[]
}

export interface MakeOptions extends Partial<CacheOptions> {
  readonly clientOptions?: object
  readonly bus?: RedisStoreOptions['bus']
}

export function clusterCachesOn(cluster: () => RedisCluster, { Cluster }: Major) {
  const clients = clusterClientsOf(cluster, Cluster)
  const made: Cache[] = []

  const make = ({ clientOptions, bus, ...options }: MakeOptions = {}): ClusterCache => {
    const store = redisStore({ client: clients.make(clientOptions), bus })
    const defaults = { namespace: 'suite', ttl: '5m', storeTimeout: '10s' } as const
    const cache = createCache({ ...defaults, connectTimeout: '10s', store, ...options })
    const faults: string[] = []
    cache.on('storeFailed', ({ operation, error }) => faults.push(`${operation}: ${String(error)}`))
    made.push(cache)
    return Object.assign(cache, { faults })
  }
  return {
    make,
    /** As many, when each says that it is well. */
    async several(count: number, options: MakeOptions = {}): Promise<ClusterCache[]> {
      const several = Array.from({ length: count }, () => make(options))
      await well(...several)
      return several
    },
    async end(): Promise<void> {
      await Promise.all(made.splice(0).map((cache) => cache.close({ timeout: 100 })))
      clients.end()
    },
  }
}
