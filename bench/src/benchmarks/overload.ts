// Everybody at once, for keys that nobody has, of a source that takes few at a time, without Redis:
// is the source spared, is it kept busy, and is everybody else told so in time?

import { ask } from '../child/ask.ts'
import { inOneLine, type Budget, type Report, type Setting } from '../measure/report.ts'
import { spread } from '../measure/statistics.ts'
import { write } from '../measure/units.ts'
import { clients } from '../outage/plan.ts'
import type { Overload, OverloadPlan } from '../overload/worker.ts'

const file = new URL('../overload/worker.js', import.meta.url)
const plan = { keys: 5_000, places: 20, loadMs: 50, queueMs: 10_000 }
const leastLoaded = 3_600
/** To tell a thousand callers takes the process a moment. */
const lateMs = 100

export async function overload({ quick, runs = quick ? 1 : 2, say }: Setting): Promise<Report> {
  const found = new Map<string, Overload[]>()
  for (const client of quick ? clients.slice(0, 1) : clients) {
    const repeats: Overload[] = []
    for (let run = 0; run < runs; run += 1) {
      say(`${client}, run ${run + 1} of ${runs}`)
      const question: OverloadPlan = { client, ...plan }
      repeats.push(await ask<Overload>({ file, plan: question, limitMs: 60_000 }))
    }
    found.set(client === 'redis5' ? 'node-redis 5' : 'ioredis 6', repeats)
  }
  return {
    tables: [
      {
        id: 'overload',
        title: `${plan.keys} distinct keys at once, Redis gone, loader ${plan.loadMs} ms, ${plan.places} loads at once, queue ${plan.queueMs / 1_000} s`,
        columns: [
          { name: 'most loads at once', unit: 'count' },
          { name: 'loaded', unit: 'count' },
          { name: 'OVERLOADED', unit: 'count' },
          { name: 'anything else', unit: 'count' },
          { name: 'last loaded ms', unit: 'ms' },
          { name: 'last refused ms', unit: 'ms' },
        ],
        rows: [...found].map(([name, repeats]) => {
          const of = (figure: (it: Overload) => number) => spread(repeats.map(figure))
          return {
            name,
            figures: [
              of((it) => it.mostLoads),
              of((it) => it.loaded),
              of((it) => it.overloaded),
              of((it) => it.others.length),
              of((it) => it.lastLoadedMs),
              of((it) => it.lastRefusedMs),
            ],
          }
        }),
      },
    ],
    budgets: [...found].flatMap(([name, repeats]) => bounds(name, repeats)),
    notes: [...found].flatMap(([name, repeats]) =>
      repeats.flatMap(({ others }) => others.slice(0, 1).map((it) => `${name}: ${inOneLine(it)}`)),
    ),
  }
}

function bounds(name: string, repeats: readonly Overload[]): Budget[] {
  const most = Math.max(...repeats.map((it) => it.mostLoads))
  const least = Math.min(...repeats.map((it) => it.loaded))
  const others = Math.max(...repeats.map((it) => it.others.length))
  const last = Math.max(...repeats.map((it) => it.lastRefusedMs))
  const until = plan.queueMs + lateMs
  return [
    {
      what: `${name}: most loads at once`,
      budget: `≤ ${plan.places}`,
      measured: String(most),
      met: most <= plan.places,
    },
    {
      what: `${name}: keys loaded`,
      budget: `≥ ${leastLoaded}`,
      measured: String(least),
      met: least >= leastLoaded,
    },
    {
      what: `${name}: told neither a value nor OVERLOADED`,
      budget: '0',
      measured: String(others),
      met: others === 0,
    },
    {
      what: `${name}: everybody else told by`,
      budget: `≤ ${until} ms`,
      measured: `${write(last, 'ms')} ms`,
      met: last <= until,
    },
  ]
}
