// Each contender beside its bases in processes of their own, all contenders once per run, each run
// beginning with another one. A contender that fails or hangs is told as such and not asked again.

import { startRedisServer } from '@breakwater/rig'
import { ask } from '../child/ask.ts'
import type { Contender } from '../contenders/contender.ts'
import { problemOf } from '../measure/report.ts'
import type { Effort } from './interleave.ts'
import { hasNone, type PairPlan, type PairResult } from './plan.ts'
import type { PairTimings, WorkloadName } from './plan.ts'
import type { Shares } from './profile.ts'

const worker = new URL('./worker.js', import.meta.url)

export interface PairRuns {
  readonly workload: WorkloadName
  readonly cells: readonly string[]
  readonly contenders: readonly Contender[]
  basesOf(contender: Contender): readonly string[]
  readonly runs: number
  readonly effort: Effort
  readonly limitMs: number
  say(text: string): void
}

export interface PairOutcome {
  /** By contender, one per run. */
  readonly timings: ReadonlyMap<string, readonly PairTimings[]>
  /** By contender: why there is nothing to tell of it. */
  readonly problems: ReadonlyMap<string, string>
}

export async function runPairs(pairs: PairRuns): Promise<PairOutcome> {
  const { contenders, runs } = pairs
  const timings = new Map(contenders.map(({ name }) => [name, [] as PairTimings[]]))
  const problems = new Map<string, string>()
  const server = await startRedisServer()
  try {
    for (let run = 0; run < runs; run += 1) {
      const turn = run % contenders.length
      for (const contender of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
        const { name } = contender
        if (problems.has(name)) continue
        pairs.say(`run ${run + 1} of ${runs}: ${name}`)
        try {
          timings.get(name)?.push(await measure(pairs, contender, server.url))
        } catch (error) {
          const lacks = error instanceof Error && error.message === hasNone
          problems.set(name, lacks ? hasNone : problemOf(error))
        }
      }
    }
  } finally {
    await server.stop()
  }
  return { timings, problems }
}

async function measure(pairs: PairRuns, contender: Contender, url: string): Promise<PairTimings> {
  const { workload, cells, effort, limitMs } = pairs
  const bases = pairs.basesOf(contender)
  const { name } = contender
  const plan: PairPlan = { workload, cells, contender: name, bases, url, effort, profile: false }
  return (await ask<PairResult>({ file: worker, plan, limitMs })).timings
}

/** Where the time of one contender goes, in one cell. */
export async function profilePair(
  workload: WorkloadName,
  cell: string,
  contender: string,
): Promise<Shares> {
  const server = await startRedisServer()
  try {
    const plan: PairPlan = {
      workload,
      cells: [cell],
      contender,
      bases: [],
      url: server.url,
      effort: { rounds: 0, warmUpMs: 0, batchMs: 0 },
      profile: true,
    }
    return (await ask<PairResult>({ file: worker, plan, limitMs: 30_000 })).shares
  } finally {
    await server.stop()
  }
}
