// How long a hit in Redis takes when requests arrive at random instants: one process, no memory
// tier, a rate that every contender can keep up with.

import { contenderOf, bareName, ours, peers } from '../contenders/contenders.ts'
import { errorNotes, fleetRow, inRounds, latencyColumns } from '../fleet/rounds.ts'
import type { Report, Setting } from '../measure/report.ts'
import { runTraffic, type TrafficPlan } from '../traffic/run-traffic.ts'

const perSecond = 3_000

export async function l2Latency({ quick, runs = quick ? 1 : 2, say }: Setting): Promise<Report> {
  const plan: TrafficPlan = {
    processes: 1,
    perSecond,
    seconds: quick ? 0.7 : 2.5,
    warmUpSeconds: quick ? 0.3 : 1,
    keys: 200,
    exact: true,
    tiersOf: () => 'redis',
    entry: { ttlMs: 3_600_000, staleMs: 0, loadMs: 1, patient: true },
  }
  const contenders = [contenderOf(bareName('ioredis5')), ours, ...peers]
  const rounds = await inRounds(
    contenders,
    { rounds: runs, what: `${perSecond} per second`, say },
    async (contender, place) => [await runTraffic(contender, plan, place)],
  )
  return {
    tables: [
      {
        id: '1 KB',
        title: `${perSecond} requests per second at random instants, 200 keys by Zipf's law, 1 KB`,
        columns: [
          ...latencyColumns,
          { name: 'loads', unit: 'count', brief: true },
          { name: 'errors', unit: 'count', brief: true },
        ],
        rows: contenders.map(({ name }) =>
          fleetRow(rounds, name, ['p50', 'p95', 'p99', 'max', 'loads', 'errors']),
        ),
      },
    ],
    budgets: [],
    notes: errorNotes(rounds),
  }
}
