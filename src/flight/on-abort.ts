/**
 * One listener per signal, however many calls share it: a request's signal goes to all of its
 * reads, and Node warns of a leak from the eleventh listener on.
 */
const waiting = new WeakMap<AbortSignal, Set<() => void>>()

/** Returns what ends it. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  let runs = waiting.get(signal)
  if (runs === undefined) {
    waiting.set(signal, (runs = new Set()))
    signal.addEventListener('abort', aborted)
  }
  // One entry per call: two calls may pass the same function.
  const own = (): void => run()
  runs.add(own)
  return () => {
    if (!runs.delete(own) || runs.size > 0 || waiting.get(signal) !== runs) return
    waiting.delete(signal)
    signal.removeEventListener('abort', aborted)
  }
}

function aborted(event: Event): void {
  // In Node 20 `currentTarget` is null for every listener but the first.
  const signal = event.target as AbortSignal
  signal.removeEventListener('abort', aborted)
  const runs = waiting.get(signal)
  waiting.delete(signal)
  if (runs !== undefined) for (const run of runs) run()
}
