/** One subscriber connection, from its opening to its first fault. */
import type { SingleClient } from './node-redis-client.ts'

export interface Hearing {
  readonly channels: readonly string[]
  onMessage(channel: string, message: Uint8Array): void
  /** The server has confirmed every channel. */
  onUp(): void
  /** Once; nothing is heard any more. Without an error: it was dropped. */
  onOver(error?: unknown): void
}

/** Returns what drops it. */
export function hearOnce(open: () => Promise<SingleClient>, hearing: Hearing): () => void {
  let over = false
  let discard = (): void => {}
  const hear = byChannel(hearing.channels, (channel, message) => {
    if (!over) hearing.onMessage(channel, message)
  })
  const end = (error?: unknown): void => {
    if (over) return
    over = true
    discard()
    hearing.onOver(error)
  }
  const run = async (): Promise<void> => {
    const client = await open()
    discard = disposer(client)
    if (over) return discard()
    // Stays for good: a late error must not end the process.
    client.on('error', end)
    client.on('end', () => end(new Error('the connection was closed')))
    client.unref()
    await client.connect()
    await client.subscribe(hearing.channels, hear, true)
    if (!over) hearing.onUp()
  }
  run().catch(end)
  return () => end()
}

/**
 * While its socket is still on its way there is nothing yet that `destroy()` could end, and
 * node-redis would forget that the socket is to come: it ends a moment later then.
 */
function disposer(client: SingleClient): () => void {
  let arrived = false
  let unwanted = false
  const destroy = (): void => {
    try {
      client.destroy()
    } catch {
      // Version 5 throws when it is closed already.
    }
  }
  client.on('connect', () => {
    arrived = true
    if (unwanted) destroy()
  })
  return () => {
    unwanted = true
    if (arrived || !client.isOpen) destroy()
  }
}

/** node-redis names the channel in bytes. */
export function byChannel(
  names: readonly string[],
  onMessage: (channel: string, message: Uint8Array) => void,
): (message: Buffer, channel: Buffer) => void {
  const channels = names.map((name) => ({ name, bytes: Buffer.from(name) }))
  return (message, channel) => {
    const ours = channels.find(({ bytes }) => bytes.equals(channel))
    if (ours !== undefined) onMessage(ours.name, message)
  }
}
