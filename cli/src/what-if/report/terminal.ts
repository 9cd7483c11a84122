// The result for a terminal: a bar chart and a table for each section, as wide as there is room.
// Colour says nothing that the words do not.

import type { Figures } from '../model/figures.ts'
import { strategyNames } from '../model/scenario.ts'
import { sections, type Section } from './columns.ts'

export interface Terminal {
  readonly width: number
  readonly colour: boolean
}

const eighths = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉']

export function terminalText(all: readonly Figures[], terminal: Terminal): string {
  return sections
    .map((section) => [...heading(section, terminal), ...body(section, all, terminal)].join('\n'))
    .join('\n\n')
}

function heading({ title, explains }: Section, { width, colour }: Terminal): string[] {
  return [
    style(title, '1', colour),
    ...wrapped(explains, width).map((line) => style(line, '2', colour)),
  ]
}

function body(section: Section, all: readonly Figures[], terminal: Terminal): string[] {
  const titles = ['', ...section.columns.map(({ title }) => title)]
  const rows = all.map((figures) => [
    strategyNames[figures.strategy].title,
    ...section.columns.map(({ cell }) => cell(figures)),
  ])
  const table = aligned([titles, ...rows])
  const chart = bars(section, all, terminal)
  if (Math.max(...table.map((line) => line.length)) <= terminal.width)
    return [...table, '', ...chart]
  // Too narrow for a table: a paragraph for each.
  const cards = rows.flatMap(([name, ...cells]) => [
    name!,
    ...cells.map((cell, n) => `  ${titles[n + 1]}: ${cell}`),
  ])
  return [...cards, '', ...chart]
}

function bars({ bar }: Section, all: readonly Figures[], { width, colour }: Terminal): string[] {
  const names = all.map(({ strategy }) => strategyNames[strategy].title)
  const nameWidth = Math.max(...names.map((name) => name.length))
  const texts = all.map((figures) => bar.text(bar.value(figures)))
  const room = Math.max(4, Math.min(60, width - nameWidth - 4 - longest(texts)))
  const most = Math.max(...all.map((figures) => bar.value(figures)), Number.MIN_VALUE)
  const drawn = all.map((figures, n) => {
    const units = Math.round((bar.value(figures) / most) * room * 8)
    const line = '█'.repeat(units >> 3) + eighths[units & 7]!
    const hue = figures.strategy === 'breakwater' ? '36' : '33'
    return `${names[n]!.padEnd(nameWidth)}  ${style(line, hue, colour)} ${texts[n]}`
  })
  return [bar.title, ...drawn]
}

export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]!.map((_, column) => longest(rows.map((row) => row[column]!)))
  return rows.map((row) =>
    row
      .map((cell, column) =>
        column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  )
}

export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const line = lines.at(-1)
    if (line === undefined || line.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = `${line} ${word}`
  }
  return lines
}

function longest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length))
}

function style(text: string, code: string, colour: boolean): string {
  return colour ? `\u001b[${code}m${text}\u001b[0m` : text
}
