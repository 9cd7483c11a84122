/**
 * The commands by a single client, or one through Sentinel. Only named methods are used:
 * `callBuffer` of ioredis 5 and 6 loses the command's name under `enableAutoPipelining`. Replies are
 * asked for as Buffers, so `stringNumbers` and RESP3 change nothing but integers, which the reader
 * accepts in every form.
 */
import type { RedisCommands } from './commands.ts'
import { readsFromReplica } from './ioredis-check.ts'
import { prefixText, type IoredisClient } from './ioredis-client.ts'
import { byMethod, byName, withPrefix } from './ioredis-keyed.ts'
import { connectLazy, ioredisConnecting, ioredisServer, watchReady } from './ioredis-server.ts'
import { wordsOf } from './ioredis-words.ts'

export function ioredisCommands(client: IoredisClient): RedisCommands {
  const server = ioredisServer(client, '')
  const servers = [server]
  const byOwnMethod = byMethod(client, client)
  return {
    db: client.condition?.select ?? client.options.db ?? 0,
    keyPrefix: prefixText(client.options.keyPrefix),
    fromReplica: readsFromReplica(client),
    get ready() {
      return client.status === 'ready'
    },
    get received() {
      return client.stream?.bytesRead ?? 0
    },
    reconnect: server.reconnect,
    connecting: ioredisConnecting(client),
    // It resolves the name anew, or asks Sentinel. One that never retries would be gone for good.
    findMaster: () => {
      if (typeof client.options.retryStrategy === 'function') server.reconnect()
    },
    servers: () => servers,
    get: (key) => client.getBuffer(key),
    mget: (keys) => client.mgetBuffer(...keys),
    evalsha: (sha1, call) => client.evalshaBuffer(sha1, ...wordsOf(call)),
    eval: (source, call) => client.evalBuffer(source, ...wordsOf(call)),
    evalshaMany: async (sha1, calls) => {
      const pipeline = client.pipeline()
      for (const call of calls) pipeline.evalshaBuffer(sha1, ...wordsOf(call))
      const replies = (await pipeline.exec()) ?? []
      return replies.map(([error, reply]) => error ?? reply)
    },
    keyed: (command, key, args) =>
      byOwnMethod(command, key, args) ??
      byName(client, { command, key: withPrefix(client.options.keyPrefix, key), args }),
    watch: (onReady) => watchReady(client, onReady),
    connect: (onFault) => connectLazy(client, onFault),
  }
}
