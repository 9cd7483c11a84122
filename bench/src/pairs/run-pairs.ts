// Each contender beside its bases in processes of their own, all contenders once per run, each run
// beginning with another one. A contender that fails or hangs is told as such and not asked again.

import { startRedisServer } from '@breakwater/rig'
import { ask } from '../child/ask.ts'
import type { Contender } from '../contenders/contender.ts'
import type { Effort } from './interleave.ts'
import { hasNone, type PairPlan, type PairTimings, type WorkloadName } from './plan.ts'

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
          const reason = error instanceof Error ? error.message : String(error)
          problems.set(name, reason === hasNone ? reason : `failed: ${reason}`)
        }
      }
    }
  } finally {
    await server.stop()
  }
  return { timings, problems }
}

function measure(pairs: PairRuns, contender: Contender, url: string): Promise<PairTimings> {
  const { workload, cells, effort, limitMs } = pairs
  const bases = pairs.basesOf(contender)
  const plan: PairPlan = { workload, cells, contender: contender.name, bases, url, effort }
  return ask({ file: new URL('./worker.js', import.meta.url), plan, limitMs })
}
