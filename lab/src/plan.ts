// How big a run is. Everything that depends on time hangs on these numbers; rates hang on what the
// database manages on this machine, so that the same story is told on a laptop and on a server.

export interface Plan {
  readonly queryTargetMs: number
  readonly runMs: number
  readonly ttlMs: number
  readonly timeoutMs: number
  /** When the write happens that invalidates, as a share of the run. */
  readonly writeAt: number
  /** Hot requests per second, as a multiple of the trending queries that the database manages. */
  readonly hotOverCapacity: number
  readonly unrelatedPerSecond: number
  readonly processes: number
  readonly connections: number
  readonly leaseMs: { readonly killed: number; readonly short: number }
}

const full: Plan = {
  queryTargetMs: 400,
  runMs: 8000,
  ttlMs: 2000,
  timeoutMs: 3000,
  writeAt: 0.6,
  hotOverCapacity: 20,
  unrelatedPerSecond: 40,
  processes: 4,
  connections: 20,
  leaseMs: { killed: 1500, short: 300 },
}

export function planFor(quick: boolean): Plan {
  if (!quick) return full
  return { ...full, queryTargetMs: 300, runMs: 2600, ttlMs: 800, timeoutMs: 1200 }
}
