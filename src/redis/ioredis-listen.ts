/**
 * Listens on one ioredis client, ours or the user's: subscribes on every new connection, passes on
 * what comes on our channels alone, and tells exactly when messages may be lost. The listener is
 * attached before SUBSCRIBE is sent, since messages may arrive before its confirmation.
 */
import { onShared } from './shared-listener.ts'
import type { IoredisClient } from './ioredis-client.ts'

export interface Listening {
  readonly channels: readonly string[]
  onMessage(channel: string, message: Uint8Array): void
  onState(state: 'up' | 'down'): void
  /** The server refused the subscription on a connection that still stands. */
  onRefused(error: unknown): void
}

export function listen(client: IoredisClient, listening: Listening): () => void {
  const channels = listening.channels.map((name) => ({ name, bytes: Buffer.from(name) }))
  let connection = 0
  let up = false
  let closed = false

  const onMessage = (channel: Buffer, message: Buffer) => {
    const ours = channels.find(({ bytes }) => bytes.equals(channel))
    if (ours !== undefined) listening.onMessage(ours.name, message)
  }
  const onReady = () => {
    const current = ++connection
    client.subscribe(...listening.channels).then(
      () => {
        if (closed || current !== connection || up) return
        up = true
        listening.onState('up')
      },
      (error: unknown) => {
        if (!closed && current === connection && client.status === 'ready') {
          listening.onRefused(error)
        }
      },
    )
  }
  const onClose = () => {
    connection += 1
    if (!up) return
    up = false
    listening.onState('down')
  }

  const ends = [
    onShared(client, 'messageBuffer', onMessage as never),
    onShared(client, 'ready', onReady),
    onShared(client, 'close', onClose),
  ]
  if (client.status === 'ready') onReady()

  return () => {
    closed = true
    for (const end of ends) end()
  }
}
