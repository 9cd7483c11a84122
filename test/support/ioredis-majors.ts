// The clients of the ioredis family that we claim, as a pair of constructors each.

import { Cluster as Cluster6, Redis as Redis6, type RedisOptions } from 'ioredis'
import { Cluster as Cluster5, Redis as Redis5 } from 'ioredis5'
import { Cluster as ValkeyCluster, Redis as Valkey } from 'iovalkey'
import type { RedisCluster, RedisServer } from '@breakwater/rig'

export type TestClient = Redis6
export type TestCluster = Cluster6
type NewClient = new (options: object) => TestClient
type NewCluster = new (nodes: readonly object[], options: object) => TestCluster

export interface Major {
  readonly major: string
  /** What to import it from. */
  readonly from: string
  readonly Redis: NewClient
  readonly Cluster: NewCluster
}

export const majors: readonly Major[] = [
  family('ioredis 5', 'ioredis5', Redis5, Cluster5),
  family('ioredis 6', 'ioredis', Redis6, Cluster6),
  family('iovalkey', 'iovalkey', Valkey, ValkeyCluster),
]

function family(major: string, from: string, Redis: unknown, Cluster: unknown): Major {
  return { major, from, Redis: Redis as NewClient, Cluster: Cluster as NewCluster }
}

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

/** The same of one cluster. */
export function clusterClientsOf(cluster: () => RedisCluster, Cluster: NewCluster) {
  const made: TestCluster[] = []
  return {
    make(options: object = {}): TestCluster {
      const client = new Cluster(cluster().addresses, options)
      client.on('error', () => {})
      made.push(client)
      return client
    },
    end(): void {
      for (const client of made.splice(0)) client.disconnect()
    },
  }
}

/** Where a case takes long and the adapter is the same for all: iovalkey stands for ioredis 5, which it is a fork of. */
export const twoMajors = majors.slice(1)

/** Where two take too long as well. */
export const newestMajor = twoMajors.slice(0, 1)
