// One herd: fresh processes of one contender, a first herd of the same kind that nobody counts (so
// that code is warm, scripts are loaded and connections are open), then the one that counts.

import { setTimeout as sleep } from 'node:timers/promises'
import { Redis } from 'ioredis'
import { percentile } from '../measure/statistics.ts'
import { startFleet, type Fleet } from './fleet.ts'
import { loadsKey } from './messages.ts'

export interface HerdPlan {
  readonly url: string
  readonly contender: string
  readonly processes: number
  /** Per process. */
  readonly callers: number
  /** `stale`: every process read the key while it was fresh, and its ttl has passed within 2 s. */
  readonly key: 'stale' | 'cold'
}

export interface HerdFigures {
  readonly loads: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
  readonly errors: readonly string[]
}

const ttlMs = 2_000
const staleMs = 30_000
const loadMs = 600
const pastTtlMs = 60
const leadMs = 150

export async function runHerd(plan: HerdPlan): Promise<HerdFigures> {
  const { url, contender } = plan
  const fleet = await startFleet({ contender, url, ttlMs, staleMs, loadMs }, plan.processes)
  const redis = new Redis(url)
  try {
    await redis.flushall()
    if (plan.key === 'stale') {
      for (const key of ['rehearsal', 'page']) {
        // The first process loads; the others find the value in Redis or load their own.
        await fleet.orderFirst({ kind: 'read', key })
        await fleet.order({ kind: 'read', key })
      }
      await sleep(ttlMs + pastTtlMs - leadMs)
    }
    await fire(fleet, plan, 'rehearsal')
    await sleep(loadMs + 300)
    await redis.del(loadsKey('page'))
    const { latencies, errors } = await fire(fleet, plan, 'page')
    await sleep(loadMs + 300)
    const loads = Number((await redis.get(loadsKey('page'))) ?? 0)
    const at = (percent: number): number => percentile(latencies, percent)
    return { loads, p50: at(50), p95: at(95), p99: at(99), max: at(100), errors }
  } finally {
    redis.disconnect()
    await fleet.stop()
  }
}

async function fire(
  fleet: Fleet,
  { callers }: HerdPlan,
  key: string,
): Promise<{ latencies: number[]; errors: string[] }> {
  const replies = await fleet.order({ kind: 'herd', key, callers, at: Date.now() + leadMs })
  const herds = replies.filter((reply) => reply.kind === 'herd')
  return {
    latencies: herds.flatMap((herd) => herd.latencies),
    errors: herds.flatMap((herd) => herd.errors),
  }
}
