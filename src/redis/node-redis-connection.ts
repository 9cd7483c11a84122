/**
 * Making a connection, and making it anew, with what node-redis has for it. A client must be told
 * to connect, and being told twice is an error: so a user who is about to do it goes first.
 */
import type { SingleClient } from './node-redis-client.ts'

interface Connectable {
  readonly isOpen: boolean
  connect(): Promise<unknown>
}

/** A client that was connected before was closed by its user, and stays closed. */
export function connectOnce(client: SingleClient, onFault: (error: unknown) => void): void {
  setImmediate(() => {
    const wasConnected = (client.socketEpoch ?? 0) > 0
    if (!client.isOpen && !wasConnected) client.connect().catch(onFault)
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
