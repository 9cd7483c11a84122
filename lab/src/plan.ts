// How big a run is. Everything that depends on time hangs on these numbers; rates hang on what the
// database manages on this machine, so that the same story is told on a laptop and on a server.

export interface Plan {
  readonly processes: number
  /** Of the whole fleet: each process has its share as its pool. */
  readonly connections: number
  readonly queryTargetMs: number
  readonly runMs: number
  readonly ttlMs: number
  readonly timeoutMs: number
  /** When the write happens that invalidates, as a share of the run: between two expiries. */
  readonly writeAt: number
  /** Hot requests per second, as a multiple of the trending queries that the database manages. */
  readonly hotOverCapacity: number
  readonly unrelatedPerSecond: number
  readonly faults: FaultPlan
}

export interface FaultPlan {
  readonly hotPerSecond: number
  /** What the trending query takes longer than usual, by a sleep in the database. */
  readonly extraQueryMs: number
  /** Longer than the query, so that the holder's death has to be waited for. */
  readonly leaseWhenKilledMs: number
  /** Much shorter than the query. */
  readonly shortLeaseMs: number
  readonly runMs: number
}

const full: Plan = {
  processes: 4,
  connections: 20,
  queryTargetMs: 370,
  runMs: 9000,
  ttlMs: 2000,
  timeoutMs: 3000,
  writeAt: 0.57,
  hotOverCapacity: 16,
  unrelatedPerSecond: 40,
  faults: {
    hotPerSecond: 100,
    extraQueryMs: 1000,
    leaseWhenKilledMs: 1500,
    shortLeaseMs: 250,
    runMs: 3000,
  },
}

export function planFor(size: 'full' | 'quick'): Plan {
  if (size === 'full') return full
  return {
    ...full,
    queryTargetMs: 320,
    runMs: 2500,
    ttlMs: 700,
    timeoutMs: 2000,
    writeAt: 0.44,
    faults: {
      ...full.faults,
      extraQueryMs: 400,
      leaseWhenKilledMs: 600,
      shortLeaseMs: 150,
      runMs: 1800,
    },
  }
}
