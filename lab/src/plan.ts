// How big a run is. Everything that depends on time hangs on these numbers; rates hang on what the
// database manages on this machine, so that the same story is told on a laptop and on a server.

export interface Plan {
  readonly processes: number
  /** Of the whole fleet: each process has its share as its pool. */
  readonly connections: number
  /** Never fewer, so that a machine that is busy while we measure does not end up with a toy. */
  readonly firstOrders: number
  readonly queryTargetMs: number
  /** What the trending query takes longer, by a sleep in the database. */
  readonly extraQueryMs: number
  readonly runMs: number
  readonly ttlMs: number
  readonly timeoutMs: number
  /** When the write happens that invalidates, as a share of the run: between two expiries. */
  readonly writeAt: number
  /** Hot requests per second, as a multiple of the trending queries that the database manages. */
  readonly hotOverCapacity: number
  readonly mostHotPerSecond: number
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
  firstOrders: 120_000,
  queryTargetMs: 370,
  extraQueryMs: 0,
  runMs: 9000,
  ttlMs: 2000,
  timeoutMs: 3000,
  writeAt: 0.57,
  hotOverCapacity: 16,
  mostHotPerSecond: Number.POSITIVE_INFINITY,
  unrelatedPerSecond: 40,
  faults: {
    hotPerSecond: 100,
    extraQueryMs: 1000,
    leaseWhenKilledMs: 1500,
    shortLeaseMs: 250,
    runMs: 3000,
  },
}

const quick: Plan = {
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

/** Shows nothing but that everything works: filled at once, slow by a sleep. */
const tiny: Plan = {
  ...quick,
  firstOrders: 2000,
  queryTargetMs: 0,
  extraQueryMs: 200,
  mostHotPerSecond: 60,
}

export type Size = 'full' | 'quick' | 'tiny'

export function planFor(size: Size): Plan {
  switch (size) {
    case 'full':
      return full
    case 'quick':
      return quick
    case 'tiny':
      return tiny
  }
}
