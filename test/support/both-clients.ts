// A store by each of the two client libraries, in their newest majors, for what is told of both.

import { createClient } from 'redis'
import { Redis } from 'ioredis'
import type { Store } from '../../src/ports.ts'
import { redisStore as ioredisStore } from '../../src/redis/ioredis.ts'
import { redisStore as nodeRedisStore } from '../../src/redis/node-redis.ts'

type Address = { readonly host: string; readonly port: number }

interface Opened {
  readonly store: Store
  /** Ends the user's client. */
  end(): void
}

interface Library {
  readonly library: string
  open(address: Address, options?: object): Opened
}

export const bothClients: readonly Library[] = [
  {
    library: 'ioredis 6',
    open(address, options = {}) {
      const client = new Redis({ ...address, ...options })
      client.on('error', () => {})
      return { store: ioredisStore({ client }), end: () => client.disconnect() }
    },
  },
  {
    library: 'node-redis 6',
    open({ host, port }, options = {}) {
      const client = createClient({ socket: { host, port }, ...options })
      client.on('error', () => {})
      // Connected by the store.
      return { store: nodeRedisStore({ client }), end: () => client.destroy() }
    },
  },
]
