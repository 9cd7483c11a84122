/** What single clients and the nodes of a cluster do alike: one server, and when a client is ready. */
import type { RedisConnecting, RedisServer } from './commands.ts'
import type { IoredisClient, IoredisSender } from './ioredis-client.ts'
import { asBuffer } from '../core/as-buffer.ts'
import { onShared } from './shared-listener.ts'

export function ioredisServer(client: IoredisClient, name: string): RedisServer {
  return {
    name,
    publish: (channel, message) => client.publish(channel, asBuffer(message)),
    time: () => client.time(),
    info: (section) => client.info(section),
    reconnect: () => {
      client.disconnect(true)
      client.stream?.destroy()
    },
  }
}

export function ioredisConnecting(client: IoredisClient): RedisConnecting {
  return {
    attempt: () => {
      // One that never retries would be gone for good.
      if (typeof client.options.retryStrategy !== 'function') return undefined
      const { status, stream } = client
      const isOne = status === 'connecting' || status === 'connect'
      return isOne && stream?.destroyed === false ? stream : undefined
    },
    giveUp: () => client.stream?.destroy(),
    // Its pauses grow to several seconds. The attempt that it had planned finds that there is one.
    hurry: () => {
      if (client.status === 'reconnecting') client.connect().catch(() => {})
    },
  }
}

export function watchReady(client: IoredisSender, onReady: (ready: boolean) => void): () => void {
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

export function connectLazy(client: IoredisSender, onFault: (error: unknown) => void): void {
  if (client.status === 'wait') client.connect().catch(onFault)
}
