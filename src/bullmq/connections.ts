/**
 * The connections below a queue of BullMQ: whether one is there, and how it is cut when it does not
 * end by itself (BullMQ waits for a Redis that is frozen). The only file that knows their insides.
 */

export interface Connected {
  readonly status?: string
  readonly isCluster?: boolean
  disconnect?(): unknown
  on?(event: 'error', listener: () => void): unknown
}

interface Connection {
  readonly _client?: Connected
  close?(force: boolean): Promise<unknown>
}

/** As of BullMQ 6, and of 5. */
interface Insides {
  readonly backend?: { readonly connection?: Connection; readonly blockingConnection?: Connection }
  readonly connection?: Connection
  readonly blockingConnection?: Connection
}

/** Once it is connected. */
export function clientOf(queue: object): Promise<Connected | undefined> {
  const { backend, client } = queue as {
    readonly backend?: { readonly client?: Promise<Connected> }
    readonly client?: Promise<Connected>
  }
  return Promise.resolve(backend?.client ?? client)
}

export function isReady(client: Connected | undefined): boolean {
  if (client === undefined) return false
  return client.status === 'ready' || (client.status === 'connect' && client.isCluster === true)
}

/** `keepsMain`: that one is the user's. */
export function disconnect(of: object | undefined, keepsMain: boolean): void {
  if (of === undefined) return
  const insides = of as Insides
  const { connection, blockingConnection } = insides.backend ?? insides
  for (const one of keepsMain ? [blockingConnection] : [blockingConnection, connection]) {
    try {
      // BullMQ stops to listen when it closes, and the client would print what nobody hears.
      const client = one?._client
      client?.on?.('error', () => {})
      // Said first: BullMQ 5 would go on to finish its job on the closed connection, without a pause.
      one?.close?.(true).catch(() => {})
      // Of one that has never connected, too: it would try for ever.
      if (client?.status !== 'end') client?.disconnect?.()
    } catch {
      // It has ended.
    }
  }
}
