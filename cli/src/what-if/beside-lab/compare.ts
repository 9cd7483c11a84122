// The model beside the lab, contender by contender: loads within one, p95 within a quarter.
// A single run of the lab is one draw of chance, so with several runs it is their medians that are
// held against each other. Of the model's side each run is repeated with many seeds, and their median
// taken.

import { runStrategy } from '../model/run-strategy.ts'
import { labModel } from './lab-model.ts'
import { contenderIds, type ContenderId, type LabRun } from './read-lab.ts'

export interface Comparison {
  readonly contender: ContenderId
  readonly lab: Compared
  readonly model: Compared
  readonly agrees: { readonly loads: boolean; readonly p95: boolean }
}

export interface Compared {
  readonly loads: number
  readonly loadsPerExpiry: number
  readonly p95Ms: number
}

export const mayDiffer = { loads: 1, p95: 0.25 } as const
const repeats = 101

export function compareWithLab(runs: readonly LabRun[], seed: number): readonly Comparison[] {
  return contenderIds.flatMap((id) => {
    const pairs = runs.flatMap((run) => {
      const contender = run.contenders.find((one) => one.id === id)
      if (contender === undefined) return []
      const lab = {
        loads: contender.queries,
        loadsPerExpiry: contender.loadsPerExpiry,
        p95Ms: contender.p95Ms,
      }
      const models = Array.from({ length: repeats }, (_, n): Compared => {
        const { strategy, scenario, rules } = labModel(run, contender, seed + n)
        const { loads, loadsPerExpiry, latency } = runStrategy(strategy, scenario, rules)
        return { loads, loadsPerExpiry, p95Ms: latency.p95 }
      })
      return [{ lab, model: medians(models) }]
    })
    if (pairs.length === 0) return []
    const lab = medians(pairs.map((pair) => pair.lab))
    const model = medians(pairs.map((pair) => pair.model))
    return [
      {
        contender: id,
        lab,
        model,
        agrees: {
          loads: Math.abs(model.loads - lab.loads) <= mayDiffer.loads,
          p95: Math.abs(model.p95Ms - lab.p95Ms) <= mayDiffer.p95 * lab.p95Ms,
        },
      },
    ]
  })
}

function medians(all: readonly Compared[]): Compared {
  const median = (of: (one: Compared) => number): number => {
    const sorted = all.map(of).sort((a, b) => a - b)
    const middle = (sorted.length - 1) / 2
    return (sorted[Math.floor(middle)]! + sorted[Math.ceil(middle)]!) / 2
  }
  return {
    loads: median(({ loads }) => loads),
    loadsPerExpiry: median(({ loadsPerExpiry }) => loadsPerExpiry),
    p95Ms: median(({ p95Ms }) => p95Ms),
  }
}
