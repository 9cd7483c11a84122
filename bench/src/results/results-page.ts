// RESULTS.md, made from the kept results alone.

import { toMarkdown } from '../measure/report.ts'
import type { Kept } from './kept.ts'
import type { Machine } from './machine.ts'

const head = `# Results

Made from the JSON in [results/](results/) by \`npm run bench -- --docs\`; do not edit. Read the ratios and medians; the spread tells how busy the machine was ([how to read them](README.md#how-to-read-the-figures)). A budget that is missed is said so.`

export function resultsPage(all: ReadonlyMap<string, Kept>): string {
  const parts = [head, budgetTable(all)]
  for (const [name, { machine, report }] of all) {
    parts.push(toMarkdown(name, report), `Measured ${writeMachine(machine)}.`)
  }
  return `${parts.join('\n\n')}\n`
}

/** `2026-01-31 with Node.js 20.20.2 and Redis 7.0.15 on linux x64, 2 cores, load before 0.1` */
export function writeMachine(machine: Machine): string {
  const { measured, node, redis, platform, cores, loadBefore } = machine
  const busy = loadBefore > cores / 2 ? ' (busy: trust the loads and the bytes alone)' : ''
  return `${measured} with Node.js ${node} and Redis ${redis} on ${platform}, ${cores} cores, load before ${loadBefore}${busy}`
}

function budgetTable(all: ReadonlyMap<string, Kept>): string {
  const rows = [...all].flatMap(([name, { report }]) =>
    report.budgets.map(
      ({ what, budget, measured, met }) =>
        `| ${name} | ${what} | ${budget} | ${measured} | ${met ? 'met' : '**missed**'} |`,
    ),
  )
  return ['| benchmark | what | budget | measured | |', '|---|---|---|---|---|', ...rows].join('\n')
}
