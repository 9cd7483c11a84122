/** Which server of a cluster keeps what, in terms of entries; `undefined` for a single server. */
import type { Site, Shards } from '../ports.ts'
import type { RedisCommands } from './commands.ts'
import type { Layout } from './layout.ts'
import type { ServerIdentity } from './server-identity.ts'

export function sessionShards(
  commands: RedisCommands,
  layout: Layout,
  identity: ServerIdentity,
): Shards | undefined {
  const { shards } = commands
  if (shards === undefined) return undefined
  const keyAt = (site: Site): string =>
    site === undefined ? layout.tagKeys[0]! : layout.frameKey(site)
  const named = (server: string) => commands.servers().find(({ name }) => name === server)
  return {
    servers: () => commands.servers().map(({ name }) => name),
    serverOf: (site) => shards.serverOf(keyAt(site)),
    // A name beside it, in the same slot: nothing is there, so the answer is short.
    ping: (site) => shards.ping(`${keyAt(site)}?`),
    received: (server) => shards.received(server),
    reconnect: (server) => named(server)?.reconnect(),
    lastKnown: (server) => identity.changesOf(server),
    identify: async (server) => {
      const it = named(server)
      return it === undefined ? undefined : identity.identify(it)
    },
  }
}
