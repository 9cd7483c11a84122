/**
 * The commands by an ioredis client. Only named methods are used: `callBuffer` of ioredis 5 and 6
 * loses the command's name under `enableAutoPipelining`. Replies are asked for as Buffers, so
 * `stringNumbers` and RESP3 change nothing but integers, which the reader accepts in every form.
 */
import type { Argument, RedisCommands, RedisServer, ScriptCall } from './commands.ts'
import { onShared } from './shared-listener.ts'
import { readsFromReplica, type IoredisClient } from './ioredis-client.ts'

export function ioredisCommands(client: IoredisClient): RedisCommands {
  const servers = [ioredisServer(client, '')]
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
    reconnect: () => client.disconnect(true),
    servers: () => servers,
    get: (key) => client.getBuffer(key),
    mget: (keys) => client.mgetBuffer(...keys),
    evalsha: (sha1, call) => client.evalshaBuffer(sha1, ...flat(call)),
    eval: (source, call) => client.evalBuffer(source, ...flat(call)),
    evalshaMany: async (sha1, calls) => {
      const pipeline = client.pipeline()
      for (const call of calls) pipeline.evalshaBuffer(sha1, ...flat(call))
      const replies = (await pipeline.exec()) ?? []
      return replies.map(([error, reply]) => error ?? reply)
    },
    watch: (onReady) => watchReady(client, onReady),
    connect: (onFault) => {
      if (client.status === 'wait') client.connect().catch(onFault)
    },
  }
}

function ioredisServer(client: IoredisClient, name: string): RedisServer {
  return {
    name,
    publish: (channel, message) => client.publish(channel, bytes(message)),
    time: () => client.time(),
    info: (section) => client.info(section),
  }
}

function watchReady(client: IoredisClient, onReady: (ready: boolean) => void): () => void {
  let ready = client.status === 'ready'
  const turn = (next: boolean) => {
    if (ready === next) return
    ready = next
    onReady(next)
  }
  // ioredis emits later than it changes its status: a connection that broke at once is no news.
  const up = () => turn(client.status === 'ready')
  const down = () => turn(false)
  const ends = [
    onShared(client, 'ready', up),
    onShared(client, 'close', down),
    onShared(client, 'end', down),
  ]
  return () => {
    for (const end of ends) end()
  }
}

function flat({ keys, args }: ScriptCall): (string | number | Uint8Array)[] {
  return [keys.length, ...keys, ...args.map(argument)]
}

function argument(value: Argument): string | Uint8Array {
  return typeof value === 'string' ? value : bytes(value)
}

/** ioredis writes a Uint8Array that is no Buffer as its comma-separated text. */
function bytes(value: Uint8Array): Buffer {
  return Buffer.isBuffer(value)
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.byteLength)
}

function prefixText(prefix: string | Uint8Array | undefined): string {
  if (prefix === undefined || prefix === null) return ''
  return typeof prefix === 'string' ? prefix : Buffer.from(prefix).toString('latin1')
}
