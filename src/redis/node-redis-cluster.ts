/**
 * The commands by a cluster client, which knows whose slot a key is in and follows redirections.
 * Keys of many slots are read by a GET each, since what is sent in one turn goes out in one write
 * to each node, and costs no more than an MGET of the few keys that would share a slot.
 */
import type { Bytes, RedisCommands, RedisServer } from './commands.ts'
import { AskAround } from './node-redis-ask-around.ts'
import type { ClusterClient, ClusterNode } from './node-redis-client.ts'
import { connectAtLast, renewConnection } from './node-redis-connection.ts'
import { asBytes, keyedCommands } from './node-redis-keyed.ts'
import { listenTo } from './node-redis-listeners.ts'
import { keyPrefix } from './node-redis-prefix.ts'
import { nodeRedisServer } from './node-redis-server.ts'
import { isWrongType } from './refusal.ts'
import { slotOf } from './slots.ts'

const events = ['connect', 'disconnect', 'node-ready', 'node-disconnect', 'node-error', 'error']

export function clusterCommands(cluster: ClusterClient, replicaReads: boolean): RedisCommands {
  let received = 0
  /** Replies of a batch that has not come in whole; the sockets themselves cannot be seen. */
  const receivedFrom = new Map<string, number>()
  let watched = false
  const around = new AskAround(cluster)
  const prefix = keyPrefix(cluster._keyPrefix)
  const keyed = keyedCommands(prefix, (key, command, reads) => {
    around.key = key
    return cluster.sendCommand(key, reads && replicaReads, command, asBytes)
  })
  const masterOf = (key: string): ClusterNode | undefined =>
    cluster.slots[slotOf(prefix.key(key))]?.master
  const addressOf = (key: string): string => masterOf(key)?.address ?? ''
  const came = (server: string): void => {
    received += 1
    receivedFrom.set(server, (receivedFrom.get(server) ?? 0) + 1)
  }
  const isReady = (): boolean =>
    cluster.isOpen && cluster.isReady !== false && cluster.masters.some(canSend)
  return {
    ...keyed,
    db: 0,
    fromReplica: replicaReads,
    get ready() {
      return isReady()
    },
    get received() {
      return received
    },
    reconnect: () => {
      for (const node of cluster.masters) renew(node)
    },
    findMaster: () => around.ask(),
    shards: {
      serverOf: addressOf,
      ping: async (key) => {
        const master = masterOf(key)
        if (master === undefined || !canSend(master)) {
          around.ask()
          throw new Error(`${master?.address ?? 'whoever has it'} is not connected`)
        }
        // Not as a read: a replica might answer it.
        return cluster.sendCommand(key, false, ['GET', prefix.key(key)], asBytes)
      },
      received: (server) => receivedFrom.get(server) ?? 0,
    },
    servers: () => cluster.masters.map((node) => serverOf(cluster, node, around)),
    mget: (keys) =>
      Promise.all(
        keys.map((key) => {
          const server = addressOf(key)
          return keyed.get(key).then(
            (frame) => {
              came(server)
              return frame
            },
            (error: unknown): Bytes | null | Error => {
              if (isWrongType(error)) return null
              return error instanceof Error ? error : new Error(String(error))
            },
          )
        }),
      ),
    watch: (onReady) => {
      watched = true
      let ready = isReady()
      const end = listenTo(cluster, events, () => {
        if (ready === isReady()) return
        ready = !ready
        onReady(ready)
      })
      return () => {
        watched = false
        end()
      }
    },
    connect: (onFault) => connectAtLast(cluster, () => watched, onFault),
  }
}

/** A node without a client is connected when it is needed (`minimizeConnections`). */
export function canSend({ client }: ClusterNode): boolean {
  return client === undefined || client.isReady
}

function renew({ client }: ClusterNode): void {
  if (client !== undefined) renewConnection(client)
}

function serverOf(cluster: ClusterClient, node: ClusterNode, around: AskAround): RedisServer {
  return nodeRedisServer(node.address, {
    send: async (command, options) => {
      if (!cluster.isOpen || !canSend(node)) {
        around.ask()
        throw new Error(`${node.address} is not connected`)
      }
      const client = await cluster.nodeClient(node)
      return client.sendCommand(command, options)
    },
    reconnect: () => renew(node),
  })
}
