// Herds of one contender in one fleet of fresh processes: a first one that nobody counts (so that
// code is warm, scripts are loaded and connections are open), then those that count, each on a key
// of its own.

import { setTimeout as sleep } from 'node:timers/promises'
import type { Redis } from 'ioredis'
import type { Contender } from '../contenders/contender.ts'
import { withFleet, type Fleet } from '../fleet/fleet.ts'
import { loadsKey, now } from '../fleet/messages.ts'
import type { FleetFigures, Place } from '../fleet/rounds.ts'
import { percentile } from '../measure/statistics.ts'

export interface HerdPlan {
  readonly processes: number
  /** Per process. */
  readonly callers: number
  /** `stale`: every process read the key while it was fresh, and its ttl has passed. */
  readonly state: 'stale' | 'cold'
  /** How many that count. */
  readonly herds: number
}

const ttlMs = 2_000
const staleMs = 30_000
export const loadMs = 600
const leadMs = 150
const settleMs = 250

export async function runHerds(
  contender: Contender,
  plan: HerdPlan,
  { redis, url }: Place,
): Promise<FleetFigures[]> {
  const tiers = contender.twoTiers ? 'both' : 'redis'
  const lives = { ttlMs, staleMs, loadMs, patient: false }
  return withFleet({ contender: contender.name, tiers, url, ...lives }, plan.processes, (fleet) =>
    herdsOf(fleet, plan, redis),
  )
}

async function herdsOf(fleet: Fleet, plan: HerdPlan, redis: Redis): Promise<FleetFigures[]> {
  const keys = ['rehearsal', ...Array.from({ length: plan.herds }, (_, n) => `page-${n}`)]
  if (plan.state === 'stale') {
    // The first process loads; the others find the value in Redis or load their own.
    await fleet.orderFirst({ kind: 'read', keys })
    await fleet.order({ kind: 'read', keys })
    await sleep(ttlMs)
  }
  const figures: FleetFigures[] = []
  for (const key of keys) {
    await redis.hdel(loadsKey, key)
    const herd = { kind: 'herd', key, callers: plan.callers, at: now() + leadMs } as const
    const { latencies, errors, cpuMs } = await fleet.measure(herd)
    // Behind a stale answer a refresh is still under way.
    await sleep(plan.state === 'stale' ? loadMs + settleMs : settleMs)
    if (key === 'rehearsal') continue
    const loads = Number((await redis.hget(loadsKey, key)) ?? 0)
    const at = (percent: number): number => percentile(latencies, percent)
    const cpuUs = (cpuMs * 1_000) / (plan.processes * plan.callers)
    figures.push({ loads, p50: at(50), p95: at(95), p99: at(99), max: at(100), cpuUs, errors })
  }
  return figures
}
