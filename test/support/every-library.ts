// A client of every library that we claim, over the protocol that it speaks by itself, on one server.

import type { RedisServer } from '@breakwater/rig'
import type { Store } from '../../src/ports.ts'
import { redisStore as ioredisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'
import { clientsOf, majors } from './ioredis-majors.ts'
import { nodeRedisClients, usualFlavours } from './node-redis-clients.ts'

export interface Library {
  readonly library: string
  /** A store on a client of its own; `options` that all of them know: `username`, `password`. */
  store(server: RedisServer, options?: object): Store
  /** Ends its clients. */
  end(): void
}

export const libraries: readonly Library[] = [
  ...majors.map(({ major, Redis }): Library => {
    let at: RedisServer
    const clients = clientsOf(() => at, Redis)
    return {
      library: major,
      store: (server, options) => {
        at = server
        return ioredisStore({ client: clients.make(options) })
      },
      end: () => clients.end(),
    }
  }),
  ...usualFlavours.map((flavour): Library => {
    const clients = nodeRedisClients(flavour)
    return {
      library: flavour.flavour,
      store: (server, options) => nodeRedisStore({ client: clients.make(server, options) }),
      end: () => clients.end(),
    }
  }),
]
