/**
 * Many commands to a cluster, one pipeline for each server. ioredis follows a redirection for a
 * whole pipeline or not at all, so what came back redirected (a slot moves, a replica took over) is
 * sent once more by itself, and then its own retries apply. MGET is not used: of a slot that moves
 * it answers with TRYAGAIN for as long as its keys lie on two servers.
 */
import type { IoredisCluster, IoredisPipeline } from './ioredis-client.ts'
import { slotOf } from './slots.ts'

export interface ClusterCommand {
  /** Its first, without the client's prefix. */
  readonly key: string
  addTo(pipeline: IoredisPipeline): void
  /** By itself, following redirections. */
  send(): Promise<unknown>
}

/** In order; a failed one is its error. */
export async function sendMany(
  cluster: IoredisCluster,
  commands: readonly ClusterCommand[],
): Promise<unknown[]> {
  const replies: unknown[] = Array.from(commands)
  await Promise.all(
    [...byServer(cluster, commands)].map(async ([servers, places]) => {
      const some = places.map((place) => commands[place]!)
      const answers = servers === '' ? some.map(() => misrouted) : await pipelined(cluster, some)
      await Promise.all(
        places.map(async (place, n) => {
          const answer = answers[n]
          replies[place] = isMisrouted(answer)
            ? await commands[place]!.send().catch((error: unknown) => error)
            : answer
        }),
      )
    }),
  )
  return replies
}

/** Places of the commands, by the servers of their slot; `''`: the client knows none yet. */
function byServer(
  { slots, options }: IoredisCluster,
  commands: readonly ClusterCommand[],
): Map<string, number[]> {
  const groups = new Map<string, number[]>()
  for (const [place, { key }] of commands.entries()) {
    const servers = slots[slotIn(options, key)]?.join(';') ?? ''
    const places = groups.get(servers)
    if (places === undefined) groups.set(servers, [place])
    else places.push(place)
  }
  return groups
}

/** Of a key without the client's prefix. */
export function slotIn({ keyPrefix }: IoredisCluster['options'], key: string): number {
  if (keyPrefix instanceof Uint8Array) return slotOf(Buffer.concat([keyPrefix, Buffer.from(key)]))
  return slotOf(`${keyPrefix ?? ''}${key}`)
}

async function pipelined(
  cluster: IoredisCluster,
  commands: readonly ClusterCommand[],
): Promise<unknown[]> {
  const pipeline = cluster.pipeline()
  for (const command of commands) command.addTo(pipeline)
  try {
    const replies = (await pipeline.exec()) ?? []
    return replies.map(([error, reply]) => error ?? reply)
  } catch (error) {
    return commands.map(() => error)
  }
}

const misrouted = new Error('MOVED')

/** The last: the client has just learnt that the slots have not one server any more. */
function isMisrouted(answer: unknown): boolean {
  return (
    answer instanceof Error &&
    /^(MOVED|ASK|TRYAGAIN|CLUSTERDOWN)\b|^All keys in the pipeline/.test(answer.message)
  )
}
