/**
 * A load with whoever traces it around it: nobody, most of the time, and then it costs nothing.
 *
 * Invariant: the load runs once, and what it gives is what its callers get, at once: a tracer that
 * throws, gives something else or never ends is its own affair.
 */
import type { LoadTrace, Unleased } from '../core/events.ts'
import type { Token } from '../ports.ts'
import { loadTraces } from './channels.ts'
import type { Engine, Flying, Work } from './engine.ts'

/** Runs the load before it gives control back: perhaps in a context of its own. */
export type LoadTracer = <T>(trace: LoadTrace, run: () => Promise<T>) => Promise<T>

export function traced<T>(
  { tracers, namespace, listeners }: Engine,
  of: {
    readonly work: Work
    readonly flight: Flying
    readonly lease: Token | undefined
    readonly unleased: Unleased | undefined
  },
  run: () => Promise<T>,
): Promise<T> {
  const isTraced = loadTraces.hasSubscribers
  if (tracers.size === 0 && !isTraced && !listeners.joined) return run()
  const { work, flight, lease, unleased } = of
  const { target, reason } = work
  const { key, source } = target
  const trace: LoadTrace = { namespace, name: source.name, key, reason, lease, unleased }
  flight.trace = trace
  let result: Promise<T> | undefined
  const once = (): Promise<T> => (result ??= run())
  let all = once
  // A copy: what the channel adds to its messages is not what other tracers are to see.
  if (isTraced) all = () => loadTraces.tracePromise(once, { ...trace })
  for (const tracer of tracers) {
    const inner = all
    all = () => tracer(trace, inner)
  }
  try {
    all().catch(() => {})
  } catch {
    // There is nobody to tell it to.
  }
  return once()
}
