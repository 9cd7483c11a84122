// Values made before anyone asks, by ten processes: once per period, whatever happens, and nobody waits.

import { runAhead, type AheadFigures } from '../ahead/run-ahead.ts'
import {
  downMs,
  keys,
  loadMs,
  perSecond,
  processes,
  scenarios,
  type Scenario,
} from '../ahead/plan.ts'
import { problemOf, type Budget, type Report, type Row, type Setting } from '../measure/report.ts'
import { spread } from '../measure/statistics.ts'
import { write, type Unit } from '../measure/units.ts'

interface Cell {
  readonly scenario: Scenario
  readonly repeats: readonly AheadFigures[]
  readonly problem?: string
}

export async function ahead({ quick, runs = 1, say }: Setting): Promise<Report> {
  const steadyMs = quick ? 10_000 : 30_000
  const cells: Cell[] = []
  for (const scenario of scenarios) {
    const repeats: AheadFigures[] = []
    try {
      for (let run = 0; run < runs; run += 1) {
        say(scenario)
        repeats.push(await runAhead(scenario, steadyMs))
      }
      cells.push({ scenario, repeats })
    } catch (error) {
      cells.push({ scenario, repeats, problem: problemOf(error) })
    }
  }
  const title =
    `${processes} processes, ${keys.length} keys every second, loader ${loadMs} ms, ${perSecond} requests per ` +
    `second and process; steady for ${steadyMs / 1_000} s, Redis away for ${downMs / 1_000} s and back empty`
  return {
    tables: [{ id: 'ahead', title, columns, rows: cells.map(rowOf) }],
    budgets: cells.flatMap(boundsOf),
    notes: [],
  }
}

const shown = [
  ['least loads per key and period', 'leastPerPeriod', 'ratio'],
  ['most', 'mostPerPeriod', 'ratio'],
  ['by requests', 'byRequests', 'count'],
  ['longest gap, periods', 'longestGap', 'ratio'],
  ['twice in a period', 'twice', 'count'],
  ['p99', 'p99', 'ms'],
  ['p99 outage', 'p99Outage', 'ms'],
  ['errors', 'errors', 'count'],
] as const satisfies readonly (readonly [string, keyof AheadFigures, Unit])[]
const columns = shown.map(([name, , unit]) => ({ name, unit }))

function rowOf({ scenario, repeats, problem }: Cell): Row {
  if (problem !== undefined) return { name: scenario, figures: [], problem }
  return {
    name: scenario,
    figures: shown.map(([, figure]) => {
      const values = repeats.map((it) => it[figure]).filter((value) => !Number.isNaN(value))
      return values.length === 0 ? null : spread(values)
    }),
  }
}

type Bound = readonly [figure: keyof AheadFigures, what: string, limit: number, unit: Unit]

const always: readonly Bound[] = [
  ['byRequests', 'loads by requests', 0, 'count'],
  ['errors', 'errors', 0, 'count'],
  ['p99', 'p99 of a request', 5, 'ms'],
]

const own: Readonly<Record<Scenario, readonly Bound[]>> = {
  steady: [
    ['mostPerPeriod', 'most loads per key and period', 31 / 30, 'ratio'],
    ['longestGap', 'longest time between two loads of a key, periods', 1.5, 'ratio'],
    ['twice', 'twice in a period', 0, 'count'],
  ],
  'one process killed': [
    ['longestGap', 'longest time between two loads of a key, periods', 2, 'ratio'],
    ['twice', 'twice in a period', 0, 'count'],
  ],
  'Redis restarted': [
    ['mostPerProcess', 'loads of a key by one process in a period', 1, 'count'],
    ['p99Outage', 'p99 of a request while it is away and a second after', 120, 'ms'],
  ],
}

function boundsOf({ scenario, repeats }: Cell): Budget[] {
  if (repeats.length === 0) return []
  return [...always, ...own[scenario]].map(([figure, what, limit, unit]) => {
    const worst = Math.max(...repeats.map((it) => it[figure]))
    return {
      what: `${scenario}: ${what}`,
      budget: `≤ ${write(limit, unit)}`,
      measured: write(worst, unit),
      met: worst <= limit,
    }
  })
}
