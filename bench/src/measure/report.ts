// What a benchmark gives back, as data: it is kept as JSON, and every text is made from it.

import { writeSpread } from './units.ts'
import type { Unit } from './units.ts'
import type { Spread } from './statistics.ts'

export interface Report {
  readonly tables: readonly Table[]
  readonly budgets: readonly Budget[]
  readonly notes: readonly string[]
}

export interface Table {
  /** By which other pages find it. */
  readonly id: string
  readonly title: string
  readonly columns: readonly Column[]
  readonly rows: readonly Row[]
}

export interface Column {
  readonly name: string
  readonly unit: Unit
  /** The median alone. */
  readonly brief?: boolean
}

export interface Row {
  readonly name: string
  /** One per column; null where there is nothing to measure. */
  readonly figures: readonly (Spread | null)[]
  /** Why there are no figures: it failed, hung, or has no such operation. */
  readonly problem?: string
}

export function problemOf(error: unknown): string {
  return `failed: ${inOneLine(error instanceof Error ? error.message : String(error))}`
}

/** Somebody's error in the words of a table: short, without bytes or paths of this machine. */
export function inOneLine(text: string): string {
  const printable = text.replace(/[^\x20-\x7e]+/g, ' ')
  const plain = printable.replace(/(?:\/[\w.@+-]+){2,}/g, '…')
  return plain.length > 80 ? `${plain.slice(0, 79)}…` : plain
}

export interface Budget {
  readonly what: string
  readonly budget: string
  readonly measured: string
  readonly met: boolean
  /** A promise of the documentation: where it is missed, the run exits with 1. */
  readonly must?: boolean
}

/** How much is asked of a benchmark. */
export interface Setting {
  readonly quick: boolean
  /** What a benchmark repeats, if not as often as it would by itself. */
  readonly runs: number | undefined
  /** Requests per second, if not as many as by itself. */
  readonly rate: number | undefined
  /** A sign of life on stderr. */
  say(text: string): void
}

export type Benchmark = (setting: Setting) => Promise<Report>

/** Markdown that also reads well in a terminal. */
export function toMarkdown(name: string, report: Report): string {
  const parts = [`## ${name}`]
  for (const table of report.tables) parts.push(table.title, formatTable(table))
  const budgets = report.budgets.map(
    ({ what, budget, measured, met }) =>
      `- ${met ? 'met' : '**missed**'}: ${what}: budget ${budget}, measured ${measured}`,
  )
  if (budgets.length > 0) parts.push(budgets.join('\n'))
  return [...parts, ...report.notes].join('\n\n')
}

function formatTable({ columns, rows }: Table): string {
  return grid([
    ['', ...columns.map(({ name }) => name)],
    ...rows.map(({ name, figures, problem }) => [
      name,
      ...columns.map((column, at) => {
        if (problem !== undefined) return at === 0 ? problem : ''
        const figure = figures[at]
        return figure ? writeSpread(figure, column.unit, column.brief) : '–'
      }),
    ]),
  ])
}

/** Lines of a Markdown table; the first of `all` is its head. */
export function grid(all: readonly (readonly string[])[]): string {
  const [head = []] = all
  const widths = head.map((_, at) => Math.max(3, ...all.map((row) => (row[at] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${widths
      .map((width, at) =>
        at === 0 ? (cells[at] ?? '').padEnd(width) : (cells[at] ?? '').padStart(width),
      )
      .join(' | ')} |`
  const rule = widths.map((width, at) =>
    at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [line(head), line(rule), ...all.slice(1).map(line)].join('\n')
}
