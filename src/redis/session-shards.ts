/** Which server of a cluster keeps what, in terms of entries; `undefined` for a single server. */
import type { Place, Shards } from '../ports.ts'
import type { RedisCommands } from './commands.ts'
import type { Layout } from './layout.ts'

export function sessionShards(commands: RedisCommands, layout: Layout): Shards | undefined {
  const { shards } = commands
  if (shards === undefined) return undefined
  const keyAt = (place: Place): string =>
    place === undefined ? layout.tagKeys[0]! : layout.frameKey(place)
  return {
    servers: () => commands.servers().map(({ name }) => name),
    serverOf: (place) => shards.serverOf(keyAt(place)),
    // A name beside it, in the same slot: nothing is there, so the answer is short.
    ping: (place) => shards.ping(`${keyAt(place)}?`),
    received: (server) => shards.received(server),
    reconnect: (server) => shards.reconnect(server),
  }
}
