/**
 * Whose connection the bus duplicates: the client itself, or any server of a cluster, since every
 * one of them hears what is published on each. After a connection that was lost another one is
 * taken, because its server may be gone, frozen, or no part of the cluster any more.
 */
import { nameOf, type IoredisClient, type IoredisCluster } from './ioredis-client.ts'
import type { BusSource } from './ioredis-own-bus.ts'
import { onShared } from './shared-listener.ts'

export function busOfOne(client: IoredisClient): BusSource {
  return { next: () => client }
}

export function busOfCluster(cluster: IoredisCluster): BusSource {
  let last = ''
  return {
    next: (random) => {
      const masters = cluster.nodes('master')
      const known = masters.length > 0 ? masters : cluster.nodes('all')
      const others = known.filter((node) => nameOf(node) !== last)
      const choice = others.length > 0 ? others : known
      const node = choice[Math.floor(random * choice.length)]
      if (node !== undefined) last = nameOf(node)
      return node
    },
    onNews: (run) => onShared(cluster, 'ready', run),
  }
}
