// Requests at random instants against one contender: first for a while that is not counted, then
// those that count. Latency runs from the instant at which a request was to arrive.

import { setTimeout as sleep } from 'node:timers/promises'
import { withFleet } from '../fleet/fleet.ts'
import type { FleetFigures, Place } from '../fleet/rounds.ts'
import { loadsKey, now, type TrafficOrder, type WorkerSettings } from '../fleet/messages.ts'
import type { Contender, Tiers } from '../contenders/contender.ts'
import { percentile } from '../measure/statistics.ts'

export interface TrafficPlan {
  readonly processes: number
  /** Of one process. */
  readonly perSecond: number
  readonly seconds: number
  readonly warmUpSeconds: number
  readonly keys: number
  readonly exact: boolean
  readonly tiersOf: (contender: Contender) => Tiers
  readonly entry: Pick<WorkerSettings, 'ttlMs' | 'staleMs' | 'loadMs' | 'patient'>
}

const leadMs = 100

export async function runTraffic(
  contender: Contender,
  plan: TrafficPlan,
  { redis, url, round }: Place,
): Promise<FleetFigures> {
  const settings = { contender: contender.name, tiers: plan.tiersOf(contender), url, ...plan.entry }
  const { perSecond, keys, exact } = plan
  return withFleet(settings, plan.processes, async (fleet) => {
    const send = (seconds: number, seed: number) => {
      const order: TrafficOrder = {
        kind: 'traffic',
        at: now() + leadMs,
        seconds,
        perSecond,
        keys,
        seed,
        exact,
      }
      return fleet.measure(order)
    }
    // All keys once, so that no contender meets the rest of its cold keys in the middle.
    const all = Array.from({ length: keys }, (_, rank) => `key-${rank}`)
    await fleet.order({ kind: 'read', keys: all })
    await send(plan.warmUpSeconds, 1)
    await redis.del(loadsKey)
    const { latencies, errors, cpuMs } = await send(plan.seconds, 2 + round)
    // What was begun behind the last answers.
    await sleep(plan.entry.loadMs + 100)
    const counts = await redis.hvals(loadsKey)
    const at = (percent: number): number => percentile(latencies, percent)
    return {
      loads: counts.reduce((sum, count) => sum + Number(count), 0),
      p50: at(50),
      p95: at(95),
      p99: at(99),
      max: at(100),
      errors,
      cpuUs: (cpuMs * 1_000) / (latencies.length + errors.length),
    }
  })
}
