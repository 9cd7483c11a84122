// Cuts the one link of a cluster's bus over which a master tells another node what was published at
// it. Every other link stands, so that nobody is taken for failed. Each node connects to the others'
// bus ports to tell them something: the port of the one that is to hear no more is moved behind a
// proxy, which knows by the id in each packet who it is from.

import { startTcpProxy } from '@breakwater/rig'
import type { ClusterNode, RedisCluster } from '@breakwater/rig'
import { sleep } from './open-session.ts'

export interface BusLink {
  /** From now on what goes over it is lost. */
  cut(): void
  heal(): Promise<void>
}

/** Links are made anew for it, which loses what is published meanwhile. */
export async function breakableBusLink(
  cluster: RedisCluster,
  from: ClusterNode,
  to: ClusterNode,
): Promise<BusLink> {
  const proxy = await startTcpProxy({ host: '127.0.0.1', port: to.port + 10_000 })
  // Behind signature, length, version, port, type, count and three epochs; others' ids come later.
  const isFrom = (firstBytes: string) => firstBytes.startsWith(from.id, 40)
  const announce = (port: number) => to.ask('CONFIG', 'SET', 'cluster-announce-bus-port', port)
  await announce(proxy.connection.port)
  for (let turn = 0; !proxy.connections().some(isFrom); turn += 1) {
    if (turn === 1_000) throw new Error('expected the master to connect to the other bus port')
    await sleep(10)
  }
  return {
    cut: () => proxy.cut(isFrom),
    async heal() {
      proxy.cut(undefined)
      await announce(0)
      await proxy.close()
      await cluster.settled()
    },
  }
}
