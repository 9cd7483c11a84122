/**
 * A client of the user's for subscriptions, maybe shared by many caches: never closed by us.
 * node-redis subscribes again on each new connection before it calls it ready, and counts who
 * listens to a channel; to subscribe once more to what is subscribed asks the server nothing.
 */
import type { Subscribe } from './commands.ts'
import type { SingleClient } from './node-redis-client.ts'
import { connectOnce, renewConnection } from './node-redis-connection.ts'
import { byChannel } from './node-redis-hear.ts'
import { watchReady } from './node-redis-single.ts'

const retryMs = 1_000

export function usersBus(client: SingleClient): Subscribe {
  return (subscription) => {
    const channels = [...subscription.channels]
    let connection = 0
    let up = false
    let closed = false
    let cancelRetry = (): void => {}
    const hear = byChannel(channels, (channel, message) => {
      if (!closed) subscription.onMessage(channel, message)
    })

    const subscribe = (): void => {
      const current = connection
      const isPresent = (): boolean => !closed && current === connection && client.isReady
      client.subscribe(channels, hear, true).then(
        () => {
          if (!isPresent() || up) return
          up = true
          subscription.onState('up')
        },
        (error: unknown) => {
          if (!isPresent()) return
          subscription.onFault(error)
          cancelRetry = subscription.after(retryMs, () => {
            if (isPresent()) subscribe()
          })
        },
      )
    }
    const unwatch = watchReady(client, (ready) => {
      connection += 1
      cancelRetry()
      if (ready) return subscribe()
      if (!up) return
      up = false
      subscription.onState('down')
    })
    if (client.isReady) subscribe()
    else connectOnce(client, subscription.onFault)

    return {
      renew: () => renewConnection(client),
      close: async () => {
        closed = true
        cancelRetry()
        unwatch()
        // Not awaited: a frozen server must not hold `close()`.
        if (client.isOpen) client.unsubscribe(channels, hear, true).catch(() => {})
      },
    }
  }
}
