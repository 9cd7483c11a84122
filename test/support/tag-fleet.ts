// Caches on one real Redis, as processes would be, with one source that tells which version it gave.

import { Redis, type RedisOptions } from 'ioredis'
import { createCache, type CacheOptions, type Definition } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import type { RedisServer } from '@breakwater/rig'
import { clientsOf, type TestClient } from './ioredis-majors.ts'
import { until } from './open-session.ts'

export interface Row {
  readonly id: number
  readonly version: number
}

export interface FleetOptions extends Partial<CacheOptions> {
  readonly client?: Partial<RedisOptions>
  readonly bus?: false
  readonly define?: Partial<Definition<number, Row>>
}

export function tagFleet(server: () => RedisServer, namespace: string) {
  const clients = clientsOf(server, Redis as never)
  const caches: ReturnType<typeof createCache>[] = []
  const source = { version: 1, loads: 0 }
  return {
    source,
    admin: (): TestClient => clients.make(),
    /** One more process: `item` has the tags `all`, `item:<id>` and `group:<id mod 10>`. */
    async process({ client, bus, define, ...options }: FleetOptions = {}) {
      const store = redisStore({ client: clients.make(client), ...(bus === false ? { bus } : {}) })
      const cache = createCache({
        namespace,
        ttl: '1h',
        // A machine that is shared stands still now and then.
        storeTimeout: '3s',
        store,
        ...options,
      })
      caches.push(cache)
      const item = cache.define<number, Row>({
        name: 'item',
        load: (id) => {
          source.loads++
          return { id, version: source.version }
        },
        tags: (_, id) => ['all', `item:${id}`, `group:${id % 10}`],
        ...define,
      })
      await until(() => cache.health().status === 'ok')
      return { cache, item }
    },
    async end(): Promise<void> {
      await Promise.all(caches.splice(0).map((cache) => cache.close()))
      const admin = clients.make()
      await admin.flushall()
      clients.end()
      Object.assign(source, { version: 1, loads: 0 })
    },
  }
}

/** The key of a namespace's epochs. */
export function epochsKey(namespace: string): string {
  return `bw:${namespace}:{${namespace}%tags}:e`
}
