/**
 * The subscriber connections that we open ourselves: duplicates of the user's client, or of one
 * node's, with our own settings. Each lives until its first fault and is then thrown away, so that
 * `up` means "confirmed on this connection"; the next is made with our own timer, for ever, since
 * node-redis's keep a process alive. Ended by nothing but the returned `close`.
 */
import { patience } from './bus-patience.ts'
import type { Subscribe, Subscribed, Subscription } from './commands.ts'
import type { NodeRedisClient, SingleClient } from './node-redis-client.ts'
import { canSend } from './node-redis-cluster.ts'
import { hearOnce } from './node-redis-hear.ts'

const maxRetryMs = 1_000

export function ownBus(client: NodeRedisClient): Subscribe {
  const open = opener(client)
  return (subscription) => keepSubscribed(open, subscription)
}

function keepSubscribed(open: () => Promise<SingleClient>, subscription: Subscription): Subscribed {
  let closed = false
  let retries = 0
  let cancelRetry = (): void => {}
  let drop = (): void => {}

  const retry = (): void => {
    if (closed) return
    const ms = Math.min(50 * 2 ** retries, maxRetryMs)
    retries += 1
    cancelRetry = subscription.after(Math.ceil(ms * (0.5 + subscription.random() / 2)), connect)
  }
  const connect = (): void => {
    let up = false
    const cancelPatience = patience(subscription, () => drop())
    drop = hearOnce(open, {
      channels: subscription.channels,
      onMessage: subscription.onMessage,
      onUp: () => {
        up = true
        cancelPatience()
        retries = 0
        subscription.onState('up')
      },
      onOver: (error) => {
        cancelPatience()
        if (closed) return
        if (up) subscription.onState('down')
        if (error !== undefined) subscription.onFault(error)
        retry()
      },
    })
  }
  connect()

  return {
    renew: () => drop(),
    close: async () => {
      closed = true
      cancelRetry()
      drop()
    },
  }
}

/** What makes the next connection's client: to the one server, the present master, or any master. */
function opener(bus: NodeRedisClient): () => Promise<SingleClient> {
  switch (bus.kind) {
    case 'single':
      return async () => duplicate(bus.client)
    case 'sentinel':
      return () => bus.client._execute(false, async (node) => duplicate(node))
    case 'cluster': {
      // What is published through any node of a cluster is heard at all. Another one each time.
      let turn = 0
      return async () => {
        const { masters } = bus.client
        const usable = masters.filter(canSend)
        const node = usable[turn++ % usable.length]
        if (node === undefined) throw new Error('the cluster has no master that is connected')
        return duplicate(await bus.client.nodeClient(node))
      }
    }
  }
}

/** Whatever the user's client has set to other values is set back here. */
function duplicate(client: SingleClient): SingleClient {
  return client.duplicate({
    socket: { ...client.options?.socket, reconnectStrategy: false, socketTimeout: undefined },
    readonly: false,
    disableOfflineQueue: true,
    commandsQueueMaxLength: undefined,
    pingInterval: undefined,
    clientSideCache: undefined,
    emitInvalidate: false,
    maintNotifications: 'disabled',
  })
}
