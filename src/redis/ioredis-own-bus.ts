/**
 * The subscriber connection that we open ourselves: a duplicate of the user's client (of one server,
 * where that is a cluster) with our own settings. It resubscribes by itself and not by ioredis, so
 * that `up` means "confirmed on this connection"; it is made anew for ever with our own timer,
 * because ioredis's keeps a process alive, as its sockets do: both are unref'd. Ended by nothing but
 * the returned function.
 */
import { patience } from './bus-patience.ts'
import type { Subscribe, Subscribed, Subscription } from './commands.ts'
import type { IoredisClient } from './ioredis-client.ts'
import { listen } from './ioredis-listen.ts'

const maxRetryMs = 1_000

/** Whatever the user's client has set to other values is set back here. */
const settings = {
  lazyConnect: true,
  /** Channels know no database, and a cluster has no other. */
  db: 0,
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

export interface BusSource {
  /** Whom to duplicate for the next connection; `undefined`: nobody is known yet. */
  next(random: number): IoredisClient | undefined
  /** Calls back when `next` may have an answer again. Returns what ends that. */
  onNews?(run: () => void): () => void
}

/** A source for each subscription: what it remembers is about that one. */
export function ownBus(makeSource: () => BusSource): Subscribe {
  return (subscription) => keepSubscribed(makeSource(), subscription)
}

function keepSubscribed(source: BusSource, subscription: Subscription): Subscribed {
  let closed = false
  let retries = 0
  let cancelRetry = () => {}
  let cancelPatience = () => {}
  let present: Connection | undefined

  const retry = () => {
    present = undefined
    if (closed) return
    const ms = Math.min(50 * 2 ** retries, maxRetryMs)
    retries += 1
    cancelRetry()
    cancelRetry = subscription.after(Math.ceil(ms * (0.5 + subscription.random() / 2)), connect)
  }
  const connect = () => {
    cancelRetry()
    if (closed || present !== undefined) return
    const model = source.next(subscription.random())
    if (model === undefined) return retry()
    present = open(model.duplicate(settings), {
      ...subscription,
      onState: (state) => {
        cancelPatience()
        if (state === 'up') retries = 0
        subscription.onState(state)
      },
      onFault: (error) => {
        if (!closed) subscription.onFault(error)
      },
      onEnd: () => {
        cancelPatience()
        retry()
      },
    })
    cancelPatience = patience(subscription, () => present?.cut())
  }
  const deafen = source.onNews?.(connect)
  connect()

  return {
    renew: () => present?.cut(),
    close: async () => {
      closed = true
      cancelRetry()
      cancelPatience()
      deafen?.()
      await present?.end()
    },
  }
}

interface Connection {
  cut(): void
  end(): Promise<void>
}

interface Events extends Pick<Subscription, 'channels' | 'onMessage' | 'onState' | 'onFault'> {
  onEnd(): void
}

function open(bus: IoredisClient, events: Events): Connection {
  const unref = () => bus.stream?.unref?.()
  const cut = () => {
    bus.disconnect()
    bus.stream?.destroy()
  }
  const unlisten = listen(bus, {
    channels: events.channels,
    onMessage: events.onMessage,
    onState: events.onState,
    onRefused: (error) => {
      events.onFault(error)
      bus.disconnect()
    },
  })
  const onEnd = () => {
    unlisten()
    events.onEnd()
  }
  // Keeps its listener: a late error must not end the process.
  bus.on('error', events.onFault)
  bus.on('connect', unref)
  bus.on('end', onEnd)
  // A failure also ends in `error` and `end`, which are listened to.
  bus.connect().catch(() => {})
  // The socket exists a moment later; while it connects it must not hold the process either.
  setImmediate(unref)

  return {
    cut,
    // At once: what is still on its way is of no use to a cache that closes.
    end: () => {
      unlisten()
      bus.removeListener('end', onEnd)
      return new Promise((resolve) => {
        if (bus.status === 'end') return resolve()
        bus.on('end', resolve)
        cut()
      })
    },
  }
}
