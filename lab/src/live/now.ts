// One look at the scene that is on: rates, waits, who holds the lease, how breakwater finds its store.

import type { StoreHealth } from '../api/messages.ts'
import type { LoadProgress } from '../load/start-generator.ts'
import type { Scene } from './scene.ts'

export interface Now {
  readonly kind: Scene['kind']
  readonly title: string
  readonly contender: Scene['contender']
  readonly elapsedMs: number
  readonly durationMs: number | undefined
  readonly requestsPerSecond: number
  /** Trending queries at the database. */
  readonly running: number
  readonly total: number
  readonly p95: { readonly hot: number | undefined; readonly unrelated: number | undefined }
  /** Requests without an answer so far. */
  readonly waiting: { readonly hot: number; readonly unrelated: number }
  readonly waitingForConnection: number
  readonly errors: number
  readonly processes: readonly ProcessNow[]
}

export interface ProcessNow {
  readonly number: number
  readonly isAlive: boolean
  /** How long it has held the lease or lock. */
  readonly holdsMs: number | undefined
  readonly health: StoreHealth | undefined
}

export function lookAt(scene: Scene, loads: readonly LoadProgress[], at: number): Now {
  const { fleet } = scene
  const processes = fleet.members.map(({ pid }, index): ProcessNow => {
    const one = fleet.record.processes.get(pid)
    const since = one?.leases.at(-1)
    return {
      number: index + 1,
      isAlive: one !== undefined,
      holdsMs: since === undefined ? undefined : Math.max(0, at - since),
      health: one?.health,
    }
  })
  const latest = loads.at(-1)?.endpoints
  const waitingOf = (endpoint: 'hot' | 'unrelated'): number =>
    latest === undefined ? 0 : latest[endpoint].sent - latest[endpoint].done
  return {
    kind: scene.kind,
    title: scene.title,
    contender: scene.contender,
    elapsedMs: Math.max(0, at - scene.startedAt),
    durationMs: scene.durationMs,
    requestsPerSecond: rateOf(loads),
    running: fleet.record.running,
    total: fleet.record.total - scene.queriesBefore,
    p95: { hot: latest?.hot.p95, unrelated: latest?.unrelated.p95 },
    waiting: { hot: waitingOf('hot'), unrelated: waitingOf('unrelated') },
    waitingForConnection: [...fleet.record.processes.values()].reduce(
      (sum, { waiting }) => sum + waiting,
      0,
    ),
    errors: (latest?.hot.errors ?? 0) + (latest?.unrelated.errors ?? 0),
    processes,
  }
}

function rateOf(loads: readonly LoadProgress[]): number {
  const [first, last] = [loads[0], loads.at(-1)]
  if (first === undefined || last === undefined || last.at <= first.at) return 0
  const sent = ({ endpoints }: LoadProgress): number =>
    endpoints.hot.sent + endpoints.unrelated.sent
  return ((sent(last) - sent(first)) * 1000) / (last.at - first.at)
}
