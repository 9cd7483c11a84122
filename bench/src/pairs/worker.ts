// One process that measures one contender beside its bases, and nothing else: no other contender's
// types, heap or timers are in it.

import { answer } from '../child/child.ts'
import { contenderOf } from '../contenders/contenders.ts'
import { connectIoredis } from '../contenders/connect.ts'
import { batches } from './batches.ts'
import { interleave } from './interleave.ts'
import { l1 } from './l1.ts'
import type { PairPlan, PairTimings, Workload, WorkloadName } from './plan.ts'
import { reads } from './reads.ts'
import { sets } from './sets.ts'

const workloads: Readonly<Record<WorkloadName, Workload>> = { l1, reads, sets, batches }

await answer(async (plan: PairPlan): Promise<PairTimings> => {
  const timings: Record<string, PairTimings[string]> = {}
  const redis = await connectIoredis('ioredis5', plan.url)
  for (const cell of plan.cells) {
    await redis.flushall()
    const sides = []
    for (const name of new Set([...plan.bases, plan.contender])) {
      sides.push(await workloads[plan.workload](contenderOf(name), cell, plan.url))
    }
    // Later cells run code that is compiled already.
    const first = Object.keys(timings).length === 0
    const { warmUpMs } = plan.effort
    const effort = { ...plan.effort, warmUpMs: first ? warmUpMs : warmUpMs / 4 }
    timings[cell] = await interleave(sides, effort)
    for (const side of sides) await side.close()
  }
  return timings
})
