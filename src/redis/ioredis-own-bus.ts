/**
 * The subscriber connection that we open ourselves: a duplicate of the user's client with our own
 * settings. It resubscribes by itself and not by ioredis, so that `up` means "confirmed on this
 * connection"; it is retried for ever with our own timer, because ioredis's keeps a process alive,
 * as its sockets do: both are unref'd. Ended by nothing but the returned function.
 */
import type { Subscribe, Subscribed, Subscription } from './commands.ts'
import { listen } from './ioredis-listen.ts'
import type { IoredisClient } from './ioredis-client.ts'

const maxRetryMs = 2_000

/** Whatever the user's client has set to other values is set back here. */
const settings = {
  lazyConnect: true,
  keyPrefix: '',
  readOnly: false,
  enableReadyCheck: true,
  enableOfflineQueue: false,
  enableAutoPipelining: false,
  autoResubscribe: false,
  autoResendUnfulfilledCommands: false,
  maxRetriesPerRequest: null,
  commandTimeout: undefined,
  socketTimeout: undefined,
  reconnectOnError: null,
  stringNumbers: false,
  himportFieldsets: undefined,
  retryStrategy: () => null,
}

export function ownBus(client: IoredisClient): Subscribe {
  return (subscription) => keepSubscribed(client.duplicate(settings), subscription)
}

function keepSubscribed(bus: IoredisClient, subscription: Subscription): Subscribed {
  let closed = false
  let retries = 0
  let cancelRetry = () => {}

  const unref = () => bus.stream?.unref?.()
  const connect = () => {
    // A failure also ends in `error` and `end`, which are listened to.
    bus.connect().catch(() => {})
    // The socket exists a moment later; while it connects it must not hold the process either.
    setImmediate(unref)
  }
  const retry = () => {
    if (closed) return
    const ms = Math.min(50 * 2 ** retries, maxRetryMs)
    retries += 1
    cancelRetry()
    cancelRetry = subscription.after(Math.ceil(ms * (0.5 + subscription.random() / 2)), connect)
  }
  const unlisten = listen(bus, {
    channels: subscription.channels,
    onMessage: subscription.onMessage,
    onState: (state) => {
      if (state === 'up') retries = 0
      subscription.onState(state)
    },
    onRefused: (error) => {
      subscription.onFault(error)
      bus.disconnect()
    },
  })
  const onError = (error: unknown) => {
    if (!closed) subscription.onFault(error)
  }
  bus.on('error', onError)
  bus.on('connect', unref)
  bus.on('end', retry)
  connect()

  return {
    renew: () => {
      bus.disconnect()
      bus.stream?.destroy()
    },
    close: async () => {
      closed = true
      cancelRetry()
      unlisten()
      bus.removeListener('end', retry)
      await ended(bus)
      bus.removeListener('connect', unref)
      // `error` keeps its listener: a late one must not end the process.
    },
  }
}

/** At once: what is still on its way is of no use to a cache that closes. */
function ended(bus: IoredisClient): Promise<void> {
  return new Promise((resolve) => {
    if (bus.status === 'end') return resolve()
    bus.on('end', resolve)
    bus.disconnect()
    bus.stream?.destroy()
  })
}
