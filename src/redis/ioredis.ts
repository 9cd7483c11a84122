/**
 * `breakwater/ioredis`: a store on a Redis or Valkey that the user's own client of ioredis (5, 6) or
 * iovalkey talks to: single, through Sentinel, or a Cluster. The client stays the user's: it is never
 * closed, and nothing of ours stays on it. Imports no client at run time.
 */
import { BreakwaterError, describe } from '../core/errors.ts'
import { port, type Store, type StorePort } from '../ports.ts'
import { busOfCluster, busOfOne } from './ioredis-bus-sources.ts'
import { checkBusClient, checkCommandClient, refuse } from './ioredis-check.ts'
import { isCluster, type IoredisClient, type IoredisCluster } from './ioredis-client.ts'
import { ioredisClusterCommands } from './ioredis-cluster-commands.ts'
import { ioredisCommands } from './ioredis-commands.ts'
import { ownBus } from './ioredis-own-bus.ts'
import { usersBus } from './ioredis-users-bus.ts'
import type { Subscribe } from './commands.ts'
import { RedisSession } from './session.ts'

/** A client of ioredis or iovalkey, as far as types need to know it. */
export interface Client {
  readonly status: string
  pipeline(...args: never[]): unknown
  duplicate(...args: never[]): unknown
}

export interface RedisStoreOptions {
  /** Sends the commands. Key prefix, database and other options of it are respected. */
  client: Client
  /**
   * Hears the messages of other processes. Default: a duplicate of `client` (of one of its servers,
   * where that is a Cluster), opened and closed by us. A client of your own, not a Cluster, is used
   * as it is and never closed. `false`: none, so waiters poll and the memory tier keeps an entry for
   * at most 5 s.
   */
  bus?: Client | false | undefined
  /** Accept a client that reads from replicas, whose answers may be old. Default: `false`. */
  replicaReads?: boolean | undefined
}

const known = ['client', 'bus', 'replicaReads']

/**
 * The shared tier for `createCache({ store })`.
 *
 * @throws BreakwaterError `INVALID_OPTION` when the client is none of ioredis's or iovalkey's, is in
 * subscriber mode, or reads from replicas without `replicaReads`; when `bus` is a Cluster.
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
  const commands = () =>
    isCluster(client) ? ioredisClusterCommands(client) : ioredisCommands(client)
  const store: StorePort = {
    [port]: 'store',
    open: (scope) => new RedisSession({ commands: commands(), subscribe }, scope),
  }
  return store
}

function chooseBus(client: IoredisClient | IoredisCluster, bus: unknown): Subscribe | undefined {
  if (bus === false) return undefined
  if (bus === undefined) {
    return ownBus(() => (isCluster(client) ? busOfCluster(client) : busOfOne(client)))
  }
  const users = checkBusClient(bus)
  if (users === client) {
    throw new BreakwaterError(
      'INVALID_OPTION',
      'redisStore.bus: expected a client other than `client`, since a subscriber cannot send commands; leave it out for a duplicate',
    )
  }
  return usersBus(users)
}
