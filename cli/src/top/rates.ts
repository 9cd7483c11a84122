/**
 * What two samples of all processes say of the time between them. Each process is measured by its own
 * clock, since their answers do not come at one moment; one that has begun since counts from its start.
 */
import type { ProcessSeen } from 'breakwater/admin'

export interface Rates {
  readonly definitions: readonly DefinitionRates[]
  readonly processes: readonly ProcessRates[]
}

/** Per second, but for what is waiting and loading at the second sample. */
export interface DefinitionRates {
  readonly name: string
  readonly requests: number
  readonly hits: number
  /** Of them, from the memory of the process itself. */
  readonly memoryHits: number
  readonly stale: number
  readonly loads: number
  readonly failures: number
  readonly waiting: number
  readonly loading: number
}

export interface ProcessRates {
  readonly id: string
  readonly pid: number
  readonly host: string
  readonly uptimeMs: number
  readonly status: string
  readonly store: string
  readonly bus: string
  readonly requests: number
  readonly loads: number
  readonly waiting: number
  readonly running: number
  readonly queued: number
  readonly limit: number
}

type Counts = ProcessSeen['definitions'][string]

export function ratesBetween(before: readonly ProcessSeen[], after: readonly ProcessSeen[]): Rates {
  const known = new Map(before.map((one) => [one.id, one]))
  const sums = new Map<string, DefinitionRates>()
  const processes = after.map((now): ProcessRates => {
    const then = known.get(now.id)
    const seconds = (now.uptimeMs - (then?.uptimeMs ?? 0)) / 1_000
    const own = Object.entries(now.definitions).map(([name, counts]) =>
      rateOf(name, { before: then?.definitions[name] ?? {}, after: counts, seconds }),
    )
    for (const one of own) sums.set(one.name, sumOf(sums.get(one.name), one))
    const { id, pid, host, uptimeMs, status, store, bus, loads } = now
    const { running, queued, limit } = loads
    const all = own.reduce<DefinitionRates | undefined>(sumOf, undefined)
    const { requests = 0, loads: perSecond = 0, waiting = 0 } = all ?? {}
    const rates = { requests, loads: perSecond, waiting, running, queued, limit }
    return { id, pid, host, uptimeMs, status, store, bus, ...rates }
  })
  return {
    definitions: [...sums.values()].toSorted(byRequests),
    processes: processes.toSorted(byRequests),
  }
}

function rateOf(
  name: string,
  { before, after, seconds }: { before: Counts; after: Counts; seconds: number },
): DefinitionRates {
  const rate = (...counters: readonly (keyof Counts)[]): number => {
    // Of the same moment: nothing was counted in between, and nothing can be said.
    if (seconds <= 0) return 0
    const count = counters.reduce((sum, one) => sum + (after[one] ?? 0) - (before[one] ?? 0), 0)
    return Math.max(0, count) / seconds
  }
  return {
    name,
    requests: rate(
      'hitMemory',
      'hitStore',
      'stale',
      'loaded',
      'waited',
      'fallback',
      'placeholder',
      'refused',
      'failed',
    ),
    hits: rate('hitMemory', 'hitStore'),
    memoryHits: rate('hitMemory'),
    stale: rate('stale'),
    loads: rate('loads'),
    failures: rate('loadsFailed'),
    waiting: after.waiting ?? 0,
    loading: after.loading ?? 0,
  }
}

function sumOf(sum: DefinitionRates | undefined, one: DefinitionRates): DefinitionRates {
  if (sum === undefined) return one
  return {
    name: one.name,
    requests: sum.requests + one.requests,
    hits: sum.hits + one.hits,
    memoryHits: sum.memoryHits + one.memoryHits,
    stale: sum.stale + one.stale,
    loads: sum.loads + one.loads,
    failures: sum.failures + one.failures,
    waiting: sum.waiting + one.waiting,
    loading: sum.loading + one.loading,
  }
}

function byRequests(one: { requests: number }, other: { requests: number }): number {
  return other.requests - one.requests
}
