// A route of Fastify that the cache answers, beside the same route returning a constant: each in a
// process of its own, asked in turn by this one, so that what else the machine does falls on both.

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nextReply } from '../child/reply.ts'
import { load } from '../fastify/load.ts'
import type { Listening, ServerPlan } from '../fastify/plan.ts'
import type { Budget, Report, Row, Setting } from '../measure/report.ts'
import { spread, type Spread } from '../measure/statistics.ts'
import { writeSpread } from '../measure/units.ts'

const file = fileURLToPath(new URL('../fastify/server.js', import.meta.url))
const least = 0.8
const cases = [
  { name: 'one URL', urls: 1 },
  { name: '200 URLs', urls: 200 },
]

export async function fastify({ quick, runs = quick ? 5 : 15, say }: Setting): Promise<Report> {
  const forMs = quick ? 500 : 1_000
  const children: ChildProcess[] = []
  const start = async (kind: ServerPlan['kind']): Promise<number> => {
    const plan: ServerPlan = { kind }
    const child = fork(file, [JSON.stringify(plan)], { stdio: ['ignore', 2, 2, 'ipc'] })
    children.push(child)
    return (await nextReply<Listening>(child, { limitMs: 30_000, order: kind })).port
  }
  try {
    const constant = await start('constant')
    const cached = await start('cached')
    const rows: Row[] = []
    const budgets: Budget[] = []
    for (const { name, urls } of cases) {
      const paths = Array.from({ length: urls }, (_, n) => `/products/${n}`)
      const measure = (port: number): Promise<number> => load({ port, paths, forMs })
      for (const port of [constant, cached, constant, cached]) await measure(port)
      const pairs: { constant: number; cached: number }[] = []
      for (let run = 0; run < runs; run += 1) {
        say(`${name}, pair ${run + 1} of ${runs}`)
        // Who is first changes.
        if (run % 2 === 0) {
          const first = await measure(constant)
          pairs.push({ constant: first, cached: await measure(cached) })
        } else {
          const first = await measure(cached)
          pairs.push({ cached: first, constant: await measure(constant) })
        }
      }
      const ratio: Spread = spread(pairs.map((it) => it.cached / it.constant))
      rows.push({
        name,
        figures: [
          spread(pairs.map((it) => Math.round(it.constant))),
          spread(pairs.map((it) => Math.round(it.cached))),
          ratio,
        ],
      })
      budgets.push({
        what: `${name}, answered by the cache`,
        budget: `≥ ${least} × the same route returning a constant`,
        measured: writeSpread(ratio, 'ratio'),
        met: ratio.median >= least,
        must: true,
      })
    }
    return {
      tables: [
        {
          id: 'fastify',
          title: 'requests per second of one route, its server in one process',
          columns: [
            { name: 'a constant', unit: 'count' },
            { name: 'cached', unit: 'count' },
            { name: 'ratio', unit: 'ratio' },
          ],
          rows,
        },
      ],
      budgets,
      notes: [],
    }
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}
