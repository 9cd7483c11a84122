// An ordinary day: four processes, each cache as its documentation would have it shared, keys that
// keep expiring, requests that arrive at random instants.

import { ours, peers } from '../contenders/contenders.ts'
import { errorNotes, fleetRow, inRounds, latencyColumns } from '../fleet/rounds.ts'
import type { Report, Setting } from '../measure/report.ts'
import { runTraffic, type TrafficPlan } from '../traffic/run-traffic.ts'

const processes = 4
const perSecond = 1_000
const keys = 200
const entry = { ttlMs: 2_000, staleMs: 10_000, loadMs: 100, patient: false }

export async function traffic({ quick, runs = quick ? 1 : 2, say }: Setting): Promise<Report> {
  const seconds = quick ? 2 : 6
  const plan: TrafficPlan = {
    processes,
    perSecond: perSecond / processes,
    seconds,
    warmUpSeconds: quick ? 0.5 : 2,
    keys,
    exact: false,
    tiersOf: ({ twoTiers }) => (twoTiers ? 'both' : 'redis'),
    entry,
  }
  const contenders = [ours, ...peers]
  const rounds = await inRounds(
    contenders,
    { rounds: runs, what: `${perSecond} per second`, say },
    async (contender, place) => [await runTraffic(contender, plan, place)],
  )
  return {
    tables: [
      {
        id: '4',
        title: `${perSecond} requests per second to ${processes} processes for ${seconds} s, ${keys} keys by Zipf's law, ttl ${entry.ttlMs / 1_000} s, stale ${entry.staleMs / 1_000} s, loader ${entry.loadMs} ms`,
        columns: [
          { name: 'loads', unit: 'count' },
          ...latencyColumns,
          { name: 'CPU µs per request', unit: 'us', brief: true },
          { name: 'errors', unit: 'count', brief: true },
        ],
        rows: contenders.map(({ name }) =>
          fleetRow(rounds, name, ['loads', 'p50', 'p95', 'p99', 'max', 'cpuUs', 'errors']),
        ),
      },
    ],
    budgets: [],
    notes: errorNotes(rounds),
  }
}
