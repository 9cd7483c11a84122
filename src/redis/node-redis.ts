/**
 * `breakwater/node-redis`: a store on a Redis that the user's own node-redis client (5 or 6) talks
 * to: one server, a cluster, or through Sentinel. The client stays the user's: it is never closed
 * for good. Imports no client at run time.
 */
import { describe } from '../core/errors.ts'
import { port, type Store, type StorePort } from '../ports.ts'
import type { Subscribe } from './commands.ts'
import {
  checkBusClient,
  checkCommandClient,
  refuse,
  type NodeRedisClient,
} from './node-redis-client.ts'
import { nodeRedisCommands } from './node-redis-commands.ts'
import { ownBus } from './node-redis-own-bus.ts'
import { usersBus } from './node-redis-users-bus.ts'
import { RedisSession } from './session.ts'

/** A client of `createClient`, `createCluster` or `createSentinel`, as far as types need to know it. */
export interface Client {
  readonly isOpen: boolean
  sendCommand(...args: never[]): unknown
  withTypeMapping(...args: never[]): unknown
}

export interface RedisStoreOptions {
  /**
   * Sends the commands. Key prefix, database and other options of it are respected. One that is not
   * connected yet is connected, unless you do so in the same turn.
   */
  client: Client
  /**
   * Hears the messages of other processes. Default: a duplicate of `client` (of one node's, for a
   * cluster or Sentinel), opened and closed by us. A client of your own, of `createClient`, is used
   * as it is and never closed. `false`: none, so waiters poll and the memory tier keeps an entry
   * for at most 5 s.
   */
  bus?: Client | false | undefined
  /**
   * Accept answers of replicas, which may be old: of a client with `readonly`, or of the replicas
   * that a cluster or Sentinel client was given. Default: `false`, and a cluster or Sentinel client
   * is then read from masters alone.
   */
  replicaReads?: boolean | undefined
}

const known = ['client', 'bus', 'replicaReads']

/**
 * The shared tier for `createCache({ store })`.
 *
 * @throws BreakwaterError `INVALID_OPTION` when the client is none of node-redis 5 or 6, is a pool,
 * is subscribed, or reads from a replica without `replicaReads`; and when `bus` is the client of a
 * cluster or Sentinel.
 */
export function redisStore(options: RedisStoreOptions): Store {
  if (typeof options !== 'object' || options === null) {
    throw refuse(`redisStore: expected { client }, got ${describe(options)}`)
  }
  const unknown = Object.keys(options).find((name) => !known.includes(name))
  if (unknown !== undefined) {
    throw refuse(`redisStore.${unknown}: expected one of ${known.join(', ')}, got that name`)
  }
  const { replicaReads = false } = options
  if (typeof replicaReads !== 'boolean') {
    throw refuse(`redisStore.replicaReads: expected a boolean, got ${describe(replicaReads)}`)
  }
  const client = checkCommandClient(options.client, replicaReads)
  const subscribe = chooseBus(client, options.bus)
  const store: StorePort = {
    [port]: 'store',
    open: (scope) =>
      new RedisSession({ commands: nodeRedisCommands(client, replicaReads), subscribe }, scope),
  }
  return store
}

function chooseBus(client: NodeRedisClient, bus: unknown): Subscribe | undefined {
  if (bus === false) return undefined
  if (bus === undefined) return ownBus(client)
  if (bus === client.client) {
    throw refuse(
      'redisStore.bus: expected a client other than `client`, since a subscriber cannot send ' +
        'commands; leave it out for a duplicate',
    )
  }
  return usersBus(checkBusClient(bus))
}
