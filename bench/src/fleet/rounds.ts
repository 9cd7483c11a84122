// All contenders once per round, each round beginning with another one, on one private Redis. One
// that fails or hangs is told as such and not tried again.

import { startRedisServer } from '@breakwater/rig'
import type { Redis } from 'ioredis'
import { connectIoredis } from '../contenders/connect.ts'
import type { Contender } from '../contenders/contender.ts'
import { inOneLine, problemOf, type Row } from '../measure/report.ts'
import { percentile, spread, type Spread } from '../measure/statistics.ts'

export interface Place {
  readonly redis: Redis
  readonly url: string
  readonly round: number
}

/** What fleets are measured by, each of these once per repeat. */
export interface FleetFigures {
  readonly loads: number
  readonly p50: number
  readonly p95: number
  readonly p99: number
  readonly max: number
  /** Processor time of all processes together, per request. */
  readonly cpuUs: number
  readonly errors: readonly string[]
}

export interface Rounds {
  readonly figures: ReadonlyMap<string, readonly FleetFigures[]>
  readonly problems: ReadonlyMap<string, string>
}

export async function inRounds(
  contenders: readonly Contender[],
  plan: { readonly rounds: number; readonly what: string; say(text: string): void },
  measure: (contender: Contender, place: Place) => Promise<readonly FleetFigures[]>,
): Promise<Rounds> {
  const figures = new Map(contenders.map(({ name }) => [name, [] as FleetFigures[]]))
  const problems = new Map<string, string>()
  const server = await startRedisServer()
  const redis = await connectIoredis('ioredis5', server.url)
  try {
    for (let round = 0; round < plan.rounds; round += 1) {
      const turn = round % contenders.length
      for (const contender of [...contenders.slice(turn), ...contenders.slice(0, turn)]) {
        const { name } = contender
        if (problems.has(name)) continue
        plan.say(`${plan.what}, round ${round + 1} of ${plan.rounds}: ${name}`)
        try {
          await redis.flushall()
          figures.get(name)?.push(...(await measure(contender, { redis, url: server.url, round })))
        } catch (error) {
          problems.set(name, problemOf(error))
        }
      }
    }
  } finally {
    redis.disconnect()
    await server.stop()
  }
  return { figures, problems }
}

type FigureName = Exclude<keyof FleetFigures, 'errors'>

export function figuresOf({ figures }: Rounds, name: string, what: FigureName): number[] {
  return figures.get(name)?.map((repeat) => repeat[what]) ?? []
}

export const latencyColumns = [
  { name: 'p50 ms', unit: 'ms' },
  { name: 'p95 ms', unit: 'ms' },
  { name: 'p99 ms', unit: 'ms', brief: true },
  { name: 'max ms', unit: 'ms', brief: true },
] as const

/** Median and spread of each; of the greatest latency and the errors, all repeats together. */
export function fleetRow(
  rounds: Rounds,
  name: string,
  what: readonly (FigureName | 'errors')[],
): Row {
  const problem = rounds.problems.get(name)
  if (problem !== undefined) return { name, figures: [], problem }
  const one = (value: number): Spread => ({ median: value, min: value, max: value })
  return {
    name,
    figures: what.map((it) => {
      const repeats = rounds.figures.get(name) ?? []
      if (it === 'errors') return one(repeats.reduce((sum, { errors }) => sum + errors.length, 0))
      // A repeat in which nobody was answered has no latencies.
      const values = figuresOf(rounds, name, it).filter((value) => !Number.isNaN(value))
      if (values.length === 0) return null
      return it === 'max' ? one(percentile(values, 100)) : spread(values)
    }),
  }
}

/** The first of each kind, so that a run with errors says why. */
export function errorNotes({ figures }: Rounds): string[] {
  const kinds = new Set<string>()
  for (const [name, repeats] of figures) {
    for (const error of repeats.flatMap(({ errors }) => errors))
      kinds.add(`${name}: ${inOneLine(error)}`)
  }
  return [...kinds].slice(0, 5)
}
