// One process that measures one contender beside its bases, and nothing else: no other contender's
// types, heap or timers are in it.

import { answer } from '../child/child.ts'
import { connectIoredis } from '../contenders/connect.ts'
import { contenderOf } from '../contenders/contenders.ts'
import { batches } from './batches.ts'
import { interleave, type Timings } from './interleave.ts'
import { l1 } from './l1.ts'
import type { PairPlan, PairResult, Workload, WorkloadName } from './plan.ts'
import { profile } from './profile.ts'
import { reads } from './reads.ts'
import { sets } from './sets.ts'

const workloads: Readonly<Record<WorkloadName, Workload>> = { l1, reads, sets, batches }

await answer(async (plan: PairPlan): Promise<PairResult> => {
  const redis = await connectIoredis('ioredis5', plan.url)
  const openSide = (name: string, cell: string) =>
    workloads[plan.workload](contenderOf(name), cell, plan.url)
  const [firstCell = ''] = plan.cells
  if (plan.profile) {
    return { timings: {}, shares: await profile(await openSide(plan.contender, firstCell)) }
  }
  const timings: Record<string, Timings> = {}
  for (const cell of plan.cells) {
    await redis.flushall()
    const sides = []
    for (const name of new Set([...plan.bases, plan.contender])) {
      sides.push(await openSide(name, cell))
    }
    // Later cells run code that is compiled already.
    const { warmUpMs } = plan.effort
    const effort = { ...plan.effort, warmUpMs: cell === firstCell ? warmUpMs : warmUpMs / 4 }
    timings[cell] = await interleave(sides, effort)
    for (const side of sides) await side.close()
  }
  return { timings, shares: {} }
})
