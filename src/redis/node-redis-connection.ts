/**
 * Making a connection, and making it anew, with what node-redis has for it. A client must be told
 * to connect, and being told twice is an error: so a user who is about to do it goes first.
 */
import type { RedisConnecting } from './commands.ts'
import type { SingleClient } from './node-redis-client.ts'
import { listenTo } from './node-redis-listeners.ts'

interface Connectable {
  readonly isOpen: boolean
  connect(): Promise<unknown>
}

/** Whose first `connect()` is ours. */
const ownConnects = new WeakSet<SingleClient>()

/** A client that was connected before was closed by its user, and stays closed. */
export function connectOnce(client: SingleClient, onFault: (error: unknown) => void): void {
  setImmediate(() => {
    const wasConnected = (client.socketEpoch ?? 0) > 0
    if (client.isOpen || wasConnected) return
    ownConnects.add(client)
    client.connect().catch(onFault)
  })
}

const firstRetryMs = 100
const maxRetryMs = 2_000

/** Nothing but `connect()` itself finds the first node of a cluster, or the first sentinel. */
export function connectAtLast(
  client: Connectable,
  isWanted: () => boolean,
  onFault: (error: unknown) => void,
): void {
  let ms = firstRetryMs
  const attempt = (): void => {
    if (client.isOpen || !isWanted()) return
    client.connect().catch((error: unknown) => {
      if (!isWanted()) return
      onFault(error)
      setTimeout(attempt, ms).unref()
      ms = Math.min(ms * 2, maxRetryMs)
    })
  }
  setImmediate(attempt)
}

/**
 * Breaks a connection that is dead without knowing it. node-redis has no call for that: the client
 * is ended and opened in one go, which keeps its listeners and its subscriptions. Left alone while
 * it is not connected: then it is already about to connect, or closed by its user.
 */
export function renewConnection(client: SingleClient): void {
  if (!client.isOpen || !client.isReady) return
  client.destroy()
  // A failure is also emitted as an `error`.
  client.connect().catch(() => {})
}

/**
 * What is between a connection that stands and a client that is ready. Before that node-redis has a
 * limit of its own (`connectTimeout`), and then none.
 */
export function handshakeOf(client: SingleClient): RedisConnecting & { watch(): () => void } {
  let attempt: object | undefined
  return {
    attempt: () => (client.isReady ? undefined : attempt),
    giveUp: () => {
      attempt = undefined
      abandonHandshake(client)
    },
    watch: () => {
      const ends = [
        listenTo(client, ['connect'], () => (attempt = {})),
        listenTo(client, ['end', 'error'], () => (attempt = undefined)),
      ]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

/** Longer than version 5 pauses between attempts, unless it was told otherwise. */
const loopEndsWithinMs = 3_000

/**
 * To be ended and opened anew, as above. But version 5 goes on with its attempts, until its next turn
 * comes and finds the client closed: if that were open again by then, two connections would be made.
 * Left alone is one that never retries, and would be gone for good, and a first `connect()` of the
 * user's, which would reject.
 */
function abandonHandshake(client: SingleClient): void {
  if (!client.isOpen || client.isReady) return
  if (client.options?.socket?.reconnectStrategy === false) return
  if (!ownConnects.has(client) && (client.socketEpoch ?? 1) === 0) return
  const endsAtOnce = '_keyPrefix' in client
  let waiting = true
  const again = (): void => {
    if (!waiting) return
    waiting = false
    clearTimeout(timer)
    // Its turn is over then.
    setImmediate(() => {
      unlisten()
      if (!client.isOpen) client.connect().catch(() => {})
    })
  }
  const unlisten = listenTo(client, ['reconnecting'], again)
  const timer = setTimeout(again, loopEndsWithinMs).unref()
  client.destroy()
  if (endsAtOnce) again()
}
