/**
 * A client of the user's for subscriptions, maybe shared by many caches: never closed by us, and
 * a channel is unsubscribed only when the last session that listens to it on that client goes.
 */
import type { Subscribe } from './commands.ts'
import { listen } from './ioredis-listen.ts'
import type { IoredisClient } from './ioredis-client.ts'

const retryMs = 1_000

const listeners = new WeakMap<IoredisClient, Map<string, number>>()

export function usersBus(client: IoredisClient): Subscribe {
  return ({ channels, onMessage, onState, onFault, after }) => {
    count(client, channels, 1)
    let cancelRetry = () => {}
    let stop = () => {}
    const start = () => {
      stop()
      stop = listen(client, {
        channels,
        onMessage,
        onState,
        onRefused: (error) => {
          onFault(error)
          cancelRetry = after(retryMs, start)
        },
      })
    }
    start()
    if (client.status === 'wait') client.connect().catch(onFault)

    return {
      // The connection is the user's; to subscribe once more is all that we may do.
      renew: start,
      close: async () => {
        cancelRetry()
        stop()
        const unheard = count(client, channels, -1)
        // Not awaited: a frozen server must not hold `close()`; not queued for one that is gone.
        if (unheard.length > 0 && client.status === 'ready') {
          client.unsubscribe(...unheard).catch(() => {})
        }
      },
    }
  }
}

/** Returns the channels that nobody listens to any more. */
function count(client: IoredisClient, channels: readonly string[], by: 1 | -1): string[] {
  const counts = listeners.get(client) ?? new Map<string, number>()
  listeners.set(client, counts)
  return channels.filter((channel) => {
    const left = (counts.get(channel) ?? 0) + by
    if (left > 0) counts.set(channel, left)
    else counts.delete(channel)
    return left === 0
  })
}
