/** Which server of a cluster keeps what, in terms of entries; `undefined` for a single server. */
import type { Site, Shards } from '../ports.ts'
import type { RedisCommands } from './commands.ts'
import type { Layout } from './layout.ts'

export function sessionShards(commands: RedisCommands, layout: Layout): Shards | undefined {
  const { shards } = commands
  if (shards === undefined) return undefined
  const keyAt = (site: Site): string =>
    site === undefined ? layout.tagKeys[0]! : layout.frameKey(site)
  return {
    servers: () => commands.servers().map(({ name }) => name),
    serverOf: (site) => shards.serverOf(keyAt(site)),
    // A name beside it, in the same slot: nothing is there, so the answer is short.
    ping: (site) => shards.ping(`${keyAt(site)}?`),
    received: (server) => shards.received(server),
    reconnect: (server) =>
      commands
        .servers()
        .find(({ name }) => name === server)
        ?.reconnect(),
  }
}
