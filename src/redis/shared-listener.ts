/**
 * One listener per client and event, however many caches use the client: Node warns of a leak from
 * the eleventh on. The real one is removed with the last of them.
 */
interface Emitter {
  on(event: string, listener: (...args: never[]) => void): unknown
  removeListener(event: string, listener: (...args: never[]) => void): unknown
}

interface Shared {
  readonly runs: Set<(...args: never[]) => void>
  readonly listener: (...args: never[]) => void
}

const byClient = new WeakMap<Emitter, Map<string, Shared>>()

/** Returns what ends it. */
export function onShared(
  client: Emitter,
  event: string,
  run: (...args: never[]) => void,
): () => void {
  const events = byClient.get(client) ?? new Map<string, Shared>()
  byClient.set(client, events)
  let shared = events.get(event)
  if (shared === undefined) {
    const runs = new Set<(...args: never[]) => void>()
    shared = { runs, listener: (...args) => runs.forEach((each) => each(...args)) }
    events.set(event, shared)
    client.on(event, shared.listener)
  }
  const { runs, listener } = shared
  // One entry per call: two sessions may pass the same function.
  const own = (...args: never[]): void => run(...args)
  runs.add(own)
  return () => {
    if (!runs.delete(own) || runs.size > 0) return
    events.delete(event)
    client.removeListener(event, listener)
  }
}
