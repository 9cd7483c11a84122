// The ioredis majors that we claim, as one constructor each.

import { Redis as Redis6, type RedisOptions } from 'ioredis'
import { Redis as Redis5 } from 'ioredis5'
import type { RedisServer } from '@breakwater/rig'

export type TestClient = Redis6
type NewClient = new (options: object) => TestClient

export const majors: readonly { readonly major: string; readonly Redis: NewClient }[] = [
  { major: 'ioredis 5', Redis: Redis5 as unknown as NewClient },
  { major: 'ioredis 6', Redis: Redis6 as NewClient },
]

/** Clients of one server, which end together. Their errors are expected. */
export function clientsOf(server: () => RedisServer, Redis: NewClient) {
  const made: TestClient[] = []
  return {
    make(options: Partial<RedisOptions> = {}): TestClient {
      const client = new Redis({ ...server().connection, ...options })
      client.on('error', () => {})
      made.push(client)
      return client
    },
    end(): void {
      for (const client of made.splice(0)) client.disconnect()
    },
  }
}
