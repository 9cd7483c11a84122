/**
 * The commands by a Cluster client, which sends each to the server of its key's slot and follows
 * the slot when it moves. A cluster has the one database 0. What its servers tell of themselves is
 * asked of each by the client's own connection to it.
 */
import type { Argument, Bytes, KeyedCommand, RedisCommands, RedisServer } from './commands.ts'
import { readsFromReplica } from './ioredis-check.ts'
import { nameOf, prefixText, type IoredisClient, type IoredisCluster } from './ioredis-client.ts'
import { sendMany, slotIn } from './ioredis-cluster-batch.ts'
import { byMethod, byName, withPrefix } from './ioredis-keyed.ts'
import { connectLazy, ioredisServer, watchReady } from './ioredis-server.ts'
import { wordsOf } from './ioredis-words.ts'
import { isWrongType } from './refusal.ts'

export function ioredisClusterCommands(cluster: IoredisCluster): RedisCommands {
  const direct = withoutAutoPipelining(cluster)
  const byOwnMethod = byMethod(cluster, direct)
  const isScaled = readsFromReplica(cluster)
  const get = (key: string) => cluster.getBuffer.call(direct, key)
  const named = (server: string) => cluster.nodes('all').filter((node) => nameOf(node) === server)
  return {
    db: 0,
    keyPrefix: prefixText(cluster.options.keyPrefix),
    fromReplica: isScaled,
    get ready() {
      return cluster.status === 'ready'
    },
    get received() {
      return cluster.nodes('all').reduce((sum, node) => sum + receivedBy(node), 0)
    },
    reconnect: () => {
      for (const { reconnect } of mastersOf(cluster)) reconnect()
    },
    findMaster: () => cluster.refreshSlotsCache?.(),
    shards: {
      serverOf: (key) => cluster.slots[slotIn(cluster.options, key)]?.[0] ?? '',
      // A read might go to a replica, which answers although its master does not.
      ping: (key) => cluster.evalBuffer.call(direct, 'return 0', 1, key),
      received: (server) => named(server).reduce((sum, node) => sum + receivedBy(node), 0),
    },
    servers: () => mastersOf(cluster),
    get,
    mget: async (keys) => {
      const commands = keys.map((key) => ({
        key,
        addTo: (pipeline: { getBuffer(key: string): unknown }) => void pipeline.getBuffer(key),
        send: () => get(key),
      }))
      const replies = await sendMany(cluster, commands)
      return replies.map((reply) => (isWrongType(reply) ? null : (reply as Bytes | null | Error)))
    },
    evalsha: (sha1, call) => cluster.evalshaBuffer.call(direct, sha1, ...wordsOf(call)),
    eval: (source, call) => cluster.evalBuffer.call(direct, source, ...wordsOf(call)),
    evalshaMany: (sha1, calls) => {
      const commands = calls.map((call) => ({
        key: call.keys[0] ?? '',
        addTo: (pipeline: { evalshaBuffer(...words: unknown[]): unknown }) =>
          void pipeline.evalshaBuffer(sha1, ...wordsOf(call)),
        send: () => cluster.evalshaBuffer.call(direct, sha1, ...wordsOf(call)),
      }))
      return sendMany(cluster, commands)
    },
    keyed: (command, key, args) => {
      // `scaleReads` would have a replica answer what the client knows to be a read.
      const ask = isScaled && reads.has(command) ? undefined : byOwnMethod(command, key, args)
      return ask ?? byNameAtMaster(cluster, { command, key, args })
    },
    watch: (onReady) => watchReady(cluster, onReady),
    connect: (onFault) => connectLazy(cluster, onFault),
  }
}

/**
 * Whoever owns slots. The client drops a server whose connection is lost, and does not always look
 * for it again: it is a master all the same, whose messages others may hear and we do not.
 */
function mastersOf(cluster: IoredisCluster): readonly RedisServer[] {
  const nodes = new Map(cluster.nodes('all').map((node) => [nameOf(node), node]))
  const names = new Set<string>()
  let last: unknown
  for (const slot of cluster.slots) {
    // The slots of a range share one list.
    if (slot !== last && slot?.[0] !== undefined) names.add(slot[0])
    last = slot
  }
  if (names.size === 0) for (const node of cluster.nodes('master')) names.add(nameOf(node))
  return [...names].map((name) => {
    const node = nodes.get(name)
    return node === undefined ? lostServer(cluster, name) : ioredisServer(node, name)
  })
}

function lostServer(cluster: IoredisCluster, name: string): RedisServer {
  const refuse = async (): Promise<never> => {
    if (cluster.status === 'ready') cluster.refreshSlotsCache?.()
    throw new Error(`${name} is not connected`)
  }
  return { name, publish: refuse, time: refuse, info: refuse, reconnect: () => {} }
}

const reads: ReadonlySet<KeyedCommand> = new Set(['BITFIELD_RO', 'GETRANGE', 'HGET', 'EXISTS'])

/** Follows no redirection: it asks who has which slot now, and fails. */
async function byNameAtMaster(
  cluster: IoredisCluster,
  { command, key, args }: { command: KeyedCommand; key: string; args: readonly Argument[] },
): Promise<unknown> {
  const owner = cluster.slots[slotIn(cluster.options, key)]?.[0]
  const node = cluster.nodes('master').find((one) => nameOf(one) === owner)
  const whole = withPrefix(cluster.options.keyPrefix, key)
  try {
    if (node === undefined) throw new Error(`${owner ?? 'whoever has it'} is not connected`)
    return await byName(node, { command, key: whole, args })
  } catch (error) {
    if (cluster.status === 'ready') cluster.refreshSlotsCache?.()
    throw error
  }
}

/**
 * `enableAutoPipelining` sends a script to the server that its SHA's slot would have, in iovalkey
 * and in earlier versions of ioredis 5, and gives redirections to whoever is in the same pipeline.
 * What the client's methods need of `this` is here, without that option.
 */
function withoutAutoPipelining(cluster: IoredisCluster): IoredisCluster {
  if (cluster.options.enableAutoPipelining !== true) return cluster
  const direct: Pick<IoredisCluster, 'options' | 'sendCommand'> = {
    options: { ...cluster.options, enableAutoPipelining: false },
    sendCommand: (...args) => cluster.sendCommand(...args),
  }
  return direct as IoredisCluster
}

function receivedBy({ stream }: IoredisClient): number {
  return stream?.bytesRead ?? 0
}
