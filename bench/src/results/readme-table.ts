// The table in the README of the repository: one figure per cache and question, from the kept
// results alone. It stands between two comments; the rest of that page is not touched.

import { grid, type Table } from '../measure/report.ts'
import { write, type Unit } from '../measure/units.ts'
import { ours, peers } from '../contenders/contenders.ts'
import type { Kept } from './kept.ts'
import { writeMachine } from './results-page.ts'

const begin = '<!-- bench: written by npm run bench -- --docs -->'
const end = '<!-- /bench -->'

interface Question {
  readonly head: string
  readonly benchmark: string
  readonly table: string
  readonly column: string
  readonly unit: Unit
}

const questions: readonly Question[] = [
  {
    head: 'hit in memory, × lru-cache',
    benchmark: 'l1-hit',
    table: 'string',
    column: 'of lru-cache',
    unit: 'ratio',
  },
  {
    head: 'hit in Redis, × bare GET',
    benchmark: 'l2-hit',
    table: '1 KB, 200 keys',
    column: 'of its own client',
    unit: 'ratio',
  },
  {
    head: 'batch of 100, × bare MGET',
    benchmark: 'batch',
    table: '1 KB, 200 keys',
    column: 'of its own client',
    unit: 'ratio',
  },
  {
    head: 'loads, cold key, 16 processes',
    benchmark: 'cold-herd',
    table: '16',
    column: 'loads',
    unit: 'count',
  },
  {
    head: 'loads, stale key, 16 processes',
    benchmark: 'stale-herd',
    table: '16',
    column: 'loads',
    unit: 'count',
  },
  {
    head: 'p95 of a stale key, 4 processes, ms',
    benchmark: 'stale-herd',
    table: '4',
    column: 'p95 ms',
    unit: 'ms',
  },
  {
    head: 'bytes per entry in memory',
    benchmark: 'memory',
    table: 'bytes',
    column: 'whole entry',
    unit: 'bytes',
  },
]

const packageOf: Readonly<Record<string, string>> = {
  cachified: '@epic-web/cachified',
  catbox: '@hapi/catbox',
}

/** The page with its table written anew. */
export function withTable(page: string, all: ReadonlyMap<string, Kept>): string {
  const from = page.indexOf(begin)
  const to = page.indexOf(end)
  if (from < 0 || to < from) throw new Error(`expected ${begin} and ${end} in README.md`)
  return `${page.slice(0, from)}${begin}\n${tableOf(all)}\n${page.slice(to)}`
}

function tableOf(all: ReadonlyMap<string, Kept>): string {
  const [first] = all.values()
  if (first === undefined) return 'No results are kept.'
  const rows = [ours, ...peers].map(({ name }) => {
    const version = first.packages[packageOf[name] ?? name] ?? ''
    return [`${name} ${version}`.trim(), ...questions.map((question) => cell(all, question, name))]
  })
  return [
    grid([['', ...questions.map(({ head }) => head)], ...rows]),
    `Medians, measured ${writeMachine(first.machine)}. × is a ratio of one run: 1 is as quick as the bare part, 0.5 takes twice as long. – has no such operation.`,
  ].join('\n\n')
}

function cell(all: ReadonlyMap<string, Kept>, question: Question, name: string): string {
  const tables: readonly Table[] = all.get(question.benchmark)?.report.tables ?? []
  const table = tables.find(({ id }) => id === question.table)
  const at = table?.columns.findIndex(({ name: column }) => column === question.column) ?? -1
  const row = table?.rows.find((it) => it.name === name)
  if (row?.problem !== undefined) return row.problem.startsWith('failed') ? 'failed' : '–'
  const figure = row?.figures[at]
  return figure ? write(figure.median, question.unit) : '?'
}
