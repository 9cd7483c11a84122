/**
 * The commands by a client of one server. node-redis gives no sight of its socket, so `received`
 * stands still: a reply that takes longer to come in than `storeTimeout` is not told apart from
 * silence, and opens the breaker until it has come.
 */
import type { RedisCommands } from './commands.ts'
import type { SingleClient, Word } from './node-redis-client.ts'
import { connectOnce, handshakeOf, renewConnection } from './node-redis-connection.ts'
import { asBytes, keyedCommands } from './node-redis-keyed.ts'
import { listenTo } from './node-redis-listeners.ts'
import { keyPrefix } from './node-redis-prefix.ts'
import { nodeRedisServer } from './node-redis-server.ts'

export function singleCommands(client: SingleClient): RedisCommands {
  const { database = 0, readonly = false, ...options } = client.options ?? {}
  const prefix = keyPrefix(options.keyPrefix)
  const send = (command: readonly Word[]) => client.sendCommand(command, asBytes)
  const reconnect = () => renewConnection(client)
  const handshake = handshakeOf(client)
  const servers = [
    nodeRedisServer('', {
      send: (command, options) => client.sendCommand(command, options),
      reconnect,
    }),
  ]
  return {
    ...keyedCommands(prefix, (_key, command) => send(command)),
    // What a later SELECT has chosen cannot be seen: then two databases share their channels.
    db: database,
    fromReplica: readonly,
    get ready() {
      return client.isReady
    },
    received: 0,
    reconnect,
    connecting: handshake,
    // It resolves the name anew. One that never retries might be gone for good.
    findMaster: () => {
      if (options.socket?.reconnectStrategy !== false) reconnect()
    },
    servers: () => servers,
    mget: (keys) => send(['MGET', ...keys.map(prefix.key)]) as Promise<(Buffer | null)[]>,
    watch: (onReady) => {
      const ends = [handshake.watch(), watchReady(client, onReady)]
      return () => {
        for (const end of ends) end()
      }
    },
    connect: (onFault) => connectOnce(client, onFault),
  }
}

/** `error` is the only event of every loss; `error` last, which makes it the one that may stay. */
const events = ['ready', 'end', 'error']

export function watchReady(client: SingleClient, onReady: (ready: boolean) => void): () => void {
  let ready = client.isReady
  return listenTo(client, events, () => {
    if (ready === client.isReady) return
    ready = client.isReady
    onReady(ready)
  })
}
