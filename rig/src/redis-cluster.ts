// A private Redis Cluster on loopback: masters first, then their replicas. It is made and changed by
// the commands that redis-cli would send, so that the server program alone is needed.

import { ClusterViews } from './cluster-views.ts'
import { makeDirectory } from './directory.ts'
import { waitFor } from './patience.ts'
import { startServer, syncAtOnce, usualArgs, type RedisServer } from './redis-server.ts'
import { startSlotMove, type SlotMove } from './slot-move.ts'

const slotCount = 16_384

/** A replica stays with its shard, and takes over however old its data. */
const loyal = '--cluster-migration-barrier 100 --cluster-replica-validity-factor 0'.split(' ')

export interface RedisClusterOptions {
  /** Default: 3. */
  masters?: number
  /** The first is the first master's, and so on in turn. Default: 3. */
  replicas?: number
  /** Of the default user, the same on every node. Default: none. */
  password?: string
  /** After about twice this a replica takes a dead master's place. Default: 1500. */
  nodeTimeoutMs?: number
  /** More arguments for every node. */
  args?: readonly string[]
}

/** A node is a server; killed and restarted it comes back empty, as the node that it was. */
export interface ClusterNode extends RedisServer {
  readonly id: string
  readonly connection: { host: string; port: number }
}

export interface RedisCluster {
  /** For `new Redis.Cluster(addresses)`. */
  readonly addresses: readonly { host: string; port: number }[]
  /** Those that were masters at first come first. */
  readonly nodes: readonly ClusterNode[]
  /** That serve slots now and are not known to have failed, as every node that answers says. */
  masters(): Promise<readonly ClusterNode[]>
  replicasOf(master: ClusterNode): Promise<readonly ClusterNode[]>
  slotOf(key: string): Promise<number>
  masterOf(slot: number): Promise<ClusterNode>
  /** Moves a slot with its keys to another master. */
  moveSlot(slot: number, to: ClusterNode): Promise<void>
  /** The same in steps, so that something can happen in between. */
  startSlotMove(slot: number, to: ClusterNode): Promise<SlotMove>
  /** Has a replica take its master's place; resolves when every node that answers knows. */
  failOver(replica: ClusterNode, how?: 'FORCE' | 'TAKEOVER'): Promise<void>
  /** Who has taken a dead or frozen master's place; resolves when every node that answers knows. */
  successorOf(master: ClusterNode): Promise<ClusterNode>
  /** Resolves when every node that answers calls the cluster whole, and its replicas are in sync. */
  settled(): Promise<void>
  stop(): Promise<void>
}

export async function startRedisCluster(options: RedisClusterOptions = {}): Promise<RedisCluster> {
  const { masters = 3, replicas = 3 } = options
  const directory = makeDirectory()
  const starting = Array.from({ length: masters + replicas }, () => start(options, directory.path))
  const all = await Promise.allSettled(starting)
  const nodes = all.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []))
  const stop = async () => {
    await Promise.all(nodes.map((node) => node.stop()))
    await directory.remove()
  }
  try {
    for (const one of all) if (one.status === 'rejected') throw one.reason
    const views = new ClusterViews(nodes, options.password)
    await meet(nodes, masters, views)
    await views.settled()
    return clusterOf({ nodes, views, stop, shards: masters, password: options.password })
  } catch (error) {
    await stop()
    throw error
  }
}

async function start(options: RedisClusterOptions, directory: string): Promise<ClusterNode> {
  const { password, nodeTimeoutMs = 1_500, args = [] } = options
  const server = await startServer({
    listen: 'tcp',
    ports: [15_000, 22_000], // a node's bus takes the port that lies 10,000 above
    password,
    args: (address) => [
      ...usualArgs(address, directory, password),
      ...`--cluster-enabled yes --cluster-node-timeout ${nodeTimeoutMs}`.split(' '),
      '--cluster-config-file',
      `nodes-${'port' in address ? address.port : 0}.conf`,
      ...loyal,
      ...syncAtOnce,
      ...args,
    ],
  })
  const id = String(await server.ask('CLUSTER', 'MYID'))
  // Defined on it and not spread from it: `pid` is a getter.
  return Object.defineProperty(server, 'id', { value: id, enumerable: true }) as ClusterNode
}

async function meet(
  nodes: readonly ClusterNode[],
  masters: number,
  views: ClusterViews<ClusterNode>,
): Promise<void> {
  const firstOf = (n: number) => Math.floor((n * slotCount) / masters)
  for (const [n, node] of nodes.entries()) {
    await node.ask('CLUSTER', 'SET-CONFIG-EPOCH', n + 1)
    const size = n < masters ? firstOf(n + 1) - firstOf(n) : 0
    const slots = Array.from({ length: size }, (_, at) => firstOf(n) + at)
    if (size > 0) await node.ask('CLUSTER', 'ADDSLOTS', ...slots)
    if (n > 0) await nodes[0]!.ask('CLUSTER', 'MEET', '127.0.0.1', node.port)
  }
  await waitFor('every node to know every other', () => views.everyoneKnows(nodes.length))
  for (const [n, replica] of nodes.slice(masters).entries()) {
    await replica.ask('CLUSTER', 'REPLICATE', nodes[n % masters]!.id)
  }
}

interface Made {
  readonly nodes: readonly ClusterNode[]
  readonly views: ClusterViews<ClusterNode>
  readonly shards: number
  readonly password: string | undefined
  stop(): Promise<void>
}

function clusterOf({ nodes, views, shards, password, stop }: Made): RedisCluster {
  const masterOf = async (slot: number) => {
    const owners = await views.owners()
    const found = owners.find(({ slots }) => slots.some(([a, b]) => a <= slot && slot <= b))
    if (found === undefined) throw new Error(`expected a master of slot ${slot}, found none`)
    return found.node
  }
  const masters = async () => (await views.owners()).map(({ node }) => node)
  const begin = async (slot: number, to: ClusterNode): Promise<SlotMove> => {
    const from = await masterOf(slot)
    const move = await startSlotMove({ slot, from, to, masters: await masters(), password })
    return {
      moveKeys: move.moveKeys,
      finish: async () => {
        await move.finish()
        await views.owners()
      },
    }
  }
  const becomesMaster = (isIt: (node: ClusterNode) => boolean) =>
    waitFor('a replica to take over', async () => (await masters()).find(isIt))
  const shardOf = (node: ClusterNode) => nodes.indexOf(node) % shards

  return {
    addresses: nodes.map(({ connection }) => connection),
    nodes,
    masters,
    replicasOf: (master) => views.replicasOf(master),
    slotOf: async (key) => Number(await nodes[0]!.ask('CLUSTER', 'KEYSLOT', key)),
    masterOf,
    moveSlot: async (slot, to) => (await begin(slot, to)).finish(),
    startSlotMove: begin,
    failOver: async (replica, how) => {
      await replica.ask('CLUSTER', 'FAILOVER', ...(how === undefined ? [] : [how]))
      await becomesMaster((node) => node === replica)
    },
    successorOf: (master) =>
      becomesMaster((node) => node !== master && shardOf(node) === shardOf(master)),
    settled: () => views.settled(),
    stop,
  }
}
