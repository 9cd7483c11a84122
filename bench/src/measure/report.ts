// What a benchmark gives back: tables of figures, and what became of the budgets.

export interface Report {
  readonly title: string
  readonly tables: readonly Table[]
  readonly budgets: readonly Budget[]
  readonly notes: readonly string[]
}

export interface Table {
  readonly title: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export interface Budget {
  readonly what: string
  readonly budget: string
  readonly measured: string
  readonly met: boolean
}

/** What every benchmark is given; `runs` counts what that benchmark repeats. */
export interface Setting {
  readonly runs: number | undefined
  /** A sign of life on stderr. */
  say(text: string): void
}

export type Benchmark = (setting: Setting) => Promise<Report>

/** Markdown that also reads well in a terminal. */
export function toMarkdown(report: Report): string {
  const parts = [`## ${report.title}`]
  for (const table of report.tables) parts.push(table.title, formatTable(table))
  const budgets = report.budgets.map(
    ({ what, budget, measured, met }) =>
      `- ${met ? 'met' : '**missed**'}: ${what}: budget ${budget}, measured ${measured}`,
  )
  if (budgets.length > 0) parts.push(budgets.join('\n'))
  return [...parts, ...report.notes].join('\n\n')
}

function formatTable({ columns, rows }: Table): string {
  const all = [columns, ...rows]
  const widths = columns.map((_, at) => Math.max(3, ...all.map((row) => (row[at] ?? '').length)))
  const line = (cells: readonly string[]): string =>
    `| ${widths
      .map((width, at) =>
        at === 0 ? (cells[at] ?? '').padEnd(width) : (cells[at] ?? '').padStart(width),
      )
      .join(' | ')} |`
  const rule = widths.map((width, at) =>
    at === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`,
  )
  return [line(columns), line(rule), ...rows.map(line)].join('\n')
}
