/**
 * Listeners on the user's client: one per event, however many caches use it. What `createClient`
 * gives is an object over the real client that shares its listeners, until the last one is removed
 * through it: Node then gives the object an empty list of its own, and whatever the user attaches
 * afterwards is never called. So a listener that would be the last stays, and does nothing.
 */
import { onShared } from './shared-listener.ts'
import type { Emitter } from './node-redis-client.ts'

type Listener = (...args: never[]) => void

const careful = new WeakMap<Emitter, Pick<Emitter, 'on' | 'removeListener'>>()

/** Returns what ends it. */
export function listenTo(client: Emitter, events: readonly string[], run: Listener): () => void {
  const emitter = carefully(client)
  const ends = events.map((event) => onShared(emitter, event, run))
  return () => {
    for (const end of ends) end()
  }
}

function carefully(client: Emitter): Pick<Emitter, 'on' | 'removeListener'> {
  const known = careful.get(client)
  if (known !== undefined) return known
  const emitter = {
    on: (event: string, listener: Listener) => client.on(event, listener),
    removeListener: (event: string, listener: Listener) => {
      const isLast = client.eventNames().length === 1 && client.listenerCount(event) === 1
      if (!isLast) client.removeListener(event, listener)
    },
  }
  careful.set(client, emitter)
  return emitter
}
