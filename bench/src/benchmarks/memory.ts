// What an entry in memory weighs: all of it, and beyond the value that it keeps.

import { startRedisServer } from '@breakwater/rig'
import { ask } from '../child/ask.ts'
import type { Tiers } from '../contenders/contender.ts'
import { lru, ours, peers } from '../contenders/contenders.ts'
import type { Weight, WeighPlan } from '../heap/weigh.ts'
import { problemOf, type Budget, type Report, type Row, type Setting } from '../measure/report.ts'
import { spread, type Spread } from '../measure/statistics.ts'
import { writeSpread } from '../measure/units.ts'

const entries = 10_000
const most = 500

interface Weighed {
  readonly name: string
  readonly contender: string
  readonly tiers: Tiers
  readonly whole: number[]
  readonly beyond: number[]
  problem?: string
}

export async function memory({ quick, runs = quick ? 1 : 3, say }: Setting): Promise<Report> {
  const all: Weighed[] = [
    weighed('breakwater', ours.name, 'memory'),
    weighed('breakwater, with Redis', ours.name, 'both'),
    ...[...peers, lru].map(({ name }) => weighed(name, name, 'memory')),
  ]
  for (let run = 0; run < runs; run += 1) {
    for (const it of all) {
      if (it.problem !== undefined) continue
      say(`run ${run + 1} of ${runs}: ${it.name}`)
      try {
        await weighOnce(it)
      } catch (error) {
        it.problem = problemOf(error)
      }
    }
  }
  return {
    tables: [
      {
        id: 'bytes',
        title: `bytes of heap per entry, ${entries} entries of a small object`,
        columns: [
          { name: 'whole entry', unit: 'bytes' },
          { name: 'beyond its value', unit: 'bytes' },
        ],
        rows: all.map(rowOf),
      },
    ],
    budgets: all.filter(({ contender }) => contender === ours.name).map(budgetOf),
    notes: ['Without a figure in the second column: every read gives a copy.'],
  }
}

function weighed(name: string, contender: string, tiers: Tiers): Weighed {
  return { name, contender, tiers, whole: [], beyond: [] }
}

async function weighOnce({ contender, tiers, whole, beyond }: Weighed): Promise<void> {
  // Both at once: bytes do not depend on how busy the machine is.
  const [all, more] = await Promise.all([
    weightOf(contender, tiers, false),
    weightOf(contender, tiers, true),
  ])
  if ('bytesPerEntry' in all) whole.push(all.bytesPerEntry)
  if ('bytesPerEntry' in more) beyond.push(more.bytesPerEntry)
}

async function weightOf(contender: string, tiers: Tiers, held: boolean): Promise<Weight> {
  // A server for each, so that nothing is there from before.
  const server = await startRedisServer()
  try {
    const plan: WeighPlan = { contender, tiers, url: server.url, entries, held }
    return await ask({ file: new URL('../heap/weigh.js', import.meta.url), plan, limitMs: 60_000 })
  } finally {
    await server.stop()
  }
}

function rowOf({ name, whole, beyond, problem }: Weighed): Row {
  if (problem !== undefined) return { name, figures: [], problem }
  return { name, figures: [spreadOf(whole), spreadOf(beyond)] }
}

function spreadOf(bytes: readonly number[]): Spread | null {
  return bytes.length === 0 ? null : spread(bytes)
}

function budgetOf({ name, beyond }: Weighed): Budget {
  const measured = spreadOf(beyond)
  return {
    what: `${name}, beyond the value`,
    budget: `≤ ${most} bytes`,
    measured: measured ? writeSpread(measured, 'bytes') : 'nothing',
    met: measured !== null && measured.median <= most,
  }
}
