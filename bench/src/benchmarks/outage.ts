// Redis goes away under load and comes back: does anybody hang, fail, or hand its load to the source?

import type { Budget, Report, Row, Setting } from '../measure/report.ts'
import { inOneLine, problemOf } from '../measure/report.ts'
import { spread } from '../measure/statistics.ts'
import { write, type Unit } from '../measure/units.ts'
import { firstDeadlineMs, graceMs, type OutageFigures } from '../outage/figures.ts'
import {
  clients,
  faults,
  keysOf,
  loadMs,
  placesAtSource,
  processes,
  situations,
  type Fault,
  type OutageClient,
  type Situation,
} from '../outage/plan.ts'
import { runOutage } from '../outage/run-outage.ts'

const nameOf: Readonly<Record<OutageClient, string>> = {
  ioredis6: 'ioredis 6',
  redis5: 'node-redis 5',
}
const titleOf: Readonly<Record<Situation, string>> = {
  warm: `${keysOf.warm} keys, warm in memory, with stale windows`,
  'no memory': `memory: false, ${keysOf['no memory']} keys`,
  cold: 'cold keys, each asked for once, and once more 0.5 s later in another process',
}

interface Cell {
  readonly client: OutageClient
  readonly situation: Situation
  readonly fault: Fault
  readonly repeats: readonly OutageFigures[]
  readonly problem?: string
}

export async function outage({ quick, runs = 1, rate = 500, say }: Setting): Promise<Report> {
  const outageMs = quick ? 3_000 : 10_000
  const cells: Cell[] = []
  for (const client of quick ? clients.slice(0, 1) : clients) {
    for (const situation of situations) {
      for (const fault of quick ? faults.slice(0, 2) : faults) {
        say(`${nameOf[client]}, ${situation}, ${fault}`)
        const repeats: OutageFigures[] = []
        const cell = { client, situation, fault, repeats }
        try {
          for (let run = 0; run < runs; run += 1) {
            repeats.push(await runOutage({ ...cell, perSecond: rate, outageMs, processes }))
          }
          cells.push(cell)
        } catch (error) {
          cells.push({ ...cell, problem: problemOf(error) })
        }
      }
    }
  }
  const groups = clients.flatMap((client) => situations.map((situation) => ({ client, situation })))
  return {
    tables: groups.flatMap(({ client, situation }) => {
      const rows = cells.filter((it) => it.client === client && it.situation === situation)
      if (rows.length === 0) return []
      const title = `${nameOf[client]}, ${titleOf[situation]}: Redis away for ${outageMs / 1_000} s, ${rate} requests per second to ${processes} processes, loader ${loadMs} ms`
      return [{ id: `${client} ${situation}`, title, columns, rows: rows.map(rowOf) }]
    }),
    budgets: bounds(cells),
    notes: notes(cells),
  }
}

const columns = [
  { name: 'errors', unit: 'count' },
  { name: 'p50 first second', unit: 'ms' },
  { name: 'p99 first second', unit: 'ms' },
  { name: 'p99 afterwards', unit: 'ms' },
  { name: 'p99 process late', unit: 'ms' },
  { name: 'most loads at once', unit: 'count' },
  { name: 'from L2 after 2 s', unit: 'percent' },
  { name: 'ok after', unit: 'ms' },
] as const

function rowOf({ fault, repeats, problem }: Cell): Row {
  if (problem !== undefined) return { name: fault, figures: [], problem }
  const of = (figure: (it: OutageFigures) => number) => spread(repeats.map(figure))
  return {
    name: fault,
    figures: [
      of(({ errors }) => errors.length),
      of(({ p50First }) => p50First),
      of(({ p99First }) => p99First),
      of(({ p99After }) => p99After),
      of(({ p99Late }) => p99Late),
      of(({ mostLoads }) => mostLoads),
      of(({ backShare }) => backShare),
      of(({ okAfterMs }) => okAfterMs),
    ],
  }
}

interface Bound {
  readonly what: string
  readonly unit: Unit
  readonly least?: true
  limit(fault: Fault): number
  figure(it: OutageFigures): number
}

const all: readonly Bound[] = [
  { what: 'errors', unit: 'count', limit: () => 0, figure: ({ errors }) => errors.length },
  {
    what: 'p99 beyond the load in the first second',
    unit: 'ms',
    limit: (fault) => firstDeadlineMs(fault) + graceMs.first,
    figure: ({ p99First }) => p99First,
  },
  {
    what: 'p99 beyond the load afterwards',
    unit: 'ms',
    limit: () => graceMs.after,
    figure: ({ p99After }) => p99After,
  },
  {
    what: 'most loads at once in a process',
    unit: 'count',
    limit: () => placesAtSource,
    figure: ({ mostLoads }) => mostLoads,
  },
  {
    what: 'from L2 again 2 s after the return',
    unit: 'percent',
    least: true,
    limit: () => 95,
    figure: ({ backShare }) => backShare,
  },
  {
    what: 'health ok after the return',
    unit: 'ms',
    limit: () => 5_000,
    figure: ({ okAfterMs }) => okAfterMs,
  },
]

/** One line for each bound, client and fault: of its worst situation and repeat. */
function bounds(cells: readonly Cell[]): Budget[] {
  const groups = clients.flatMap((client) => faults.map((fault) => ({ client, fault })))
  return groups.flatMap(({ client, fault }) => {
    const some = cells.filter((it) => it.client === client && it.fault === fault)
    const repeats = some.flatMap((it) => it.repeats)
    if (repeats.length === 0) return []
    return all.map(({ what, unit, least, limit, figure }) => {
      const found = repeats.map(figure)
      const worst = least ? Math.min(...found) : Math.max(...found)
      const bound = limit(fault)
      return {
        what: `${nameOf[client]}, ${fault}: ${what}`,
        budget: `${least ? '≥' : '≤'} ${write(bound, unit)}${unit === 'ms' ? ' ms' : ''}`,
        measured: `${write(worst, unit)}${unit === 'ms' ? ' ms' : ''}`,
        met: least ? worst >= bound : worst <= bound,
      }
    })
  })
}

function notes(cells: readonly Cell[]): string[] {
  const errors = cells.flatMap(({ client, situation, fault, repeats }) =>
    repeats.flatMap((it) =>
      it.errors
        .slice(0, 1)
        .map((error) => `${nameOf[client]}, ${situation}, ${fault}: ${inOneLine(error)}`),
    ),
  )
  return errors.slice(0, 10)
}
