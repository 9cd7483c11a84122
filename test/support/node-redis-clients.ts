// The node-redis majors and protocols that we claim, and clients of them that end together.

import * as redis5 from 'redis5'
import * as redis6 from 'redis'
import type { RedisCluster, RedisSentinel, RedisServer } from '@breakwater/rig'

export type TestClient = ReturnType<typeof redis6.createClient>
export type TestCluster = ReturnType<typeof redis6.createCluster>
export type TestSentinel = ReturnType<typeof redis6.createSentinel>
type Factories = Pick<
  typeof redis6,
  'createClient' | 'createCluster' | 'createSentinel' | 'createClientPool'
>

export interface Flavour {
  /** As tests print it. */
  readonly flavour: string
  readonly major: 5 | 6
  readonly RESP: 2 | 3
  /** The protocol that this major speaks when it is told nothing. */
  readonly isUsual: boolean
  readonly redis: Factories
}

const majors = [
  { major: 5, redis: redis5 as unknown as Factories },
  { major: 6, redis: redis6 },
] as const

export const flavours: readonly Flavour[] = majors.flatMap(({ major, redis }) =>
  ([2, 3] as const).map((RESP) => ({
    flavour: `node-redis ${major} over RESP${RESP}`,
    major,
    RESP,
    isUsual: RESP === (major === 5 ? 2 : 3),
    redis,
  })),
)

/** Where a case takes long: each major over the protocol that it speaks by itself. */
export const usualFlavours = flavours.filter(({ isUsual }) => isUsual)

interface Ending {
  readonly isOpen: boolean
  destroy(): unknown
}

/** Clients are connected, or about to be, unless they are made `later`. Their errors are expected. */
export function nodeRedisClients({ redis, RESP }: Flavour) {
  const made: Ending[] = []
  const keep = <T extends Ending>(client: T): T => {
    made.push(client)
    return client
  }
  return {
    later(server: Pick<RedisServer, 'connection'>, options: object = {}): TestClient {
      const { socket, ...rest } = options as { socket?: object }
      const all = { RESP, socket: { ...server.connection, ...socket }, ...rest }
      return keep(redis.createClient(all as object) as TestClient).on('error', () => {})
    },
    make(server: Pick<RedisServer, 'connection'>, options: object = {}): TestClient {
      const client = this.later(server, options)
      client.connect().catch(() => {})
      return client
    },
    laterCluster({ addresses }: RedisCluster, options: object = {}): TestCluster {
      const rootNodes = addresses.map(({ host, port }) => ({ socket: { host, port } }))
      const cluster = redis.createCluster({ RESP, rootNodes, ...options }) as TestCluster
      return keep(cluster).on('error', () => {})
    },
    async cluster(rig: RedisCluster, options: object = {}): Promise<TestCluster> {
      const cluster = this.laterCluster(rig, options)
      await cluster.connect()
      return cluster
    },
    laterSentinel({ name, sentinels }: RedisSentinel, options: object = {}): TestSentinel {
      const all = { RESP, name, sentinelRootNodes: [...sentinels], ...options }
      return keep(redis.createSentinel(all) as TestSentinel).on('error', () => {})
    },
    async sentinel(rig: RedisSentinel, options: object = {}): Promise<TestSentinel> {
      const sentinel = this.laterSentinel(rig, options)
      await sentinel.connect()
      return sentinel
    },
    end(): void {
      for (const client of made.splice(0)) if (client.isOpen) void client.destroy()
    },
  }
}
