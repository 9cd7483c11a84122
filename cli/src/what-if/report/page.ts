// The result as one file to open or to send: no script, no request to anywhere. Every bar's figure
// stands beside it, and in the table below it, which is what a screen reader reads.

import type { Figures } from '../model/figures.ts'
import { strategyNames } from '../model/scenario.ts'
import { sections, type Section } from './columns.ts'
import { style } from './page-style.ts'

export interface Page {
  readonly scenario: string
  readonly figures: readonly Figures[]
  readonly notes: readonly string[]
  /** Of `--recommend`. */
  readonly advice?: string | undefined
}

const width = 520
const nameWidth = 140
const valueWidth = 80
const rowHeight = 30

export function page({ scenario, figures, notes, advice }: Page): string {
  const used = figures.map(({ strategy }) => strategyNames[strategy])
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>What a cache would do</title>
<style>${style}</style>
<main>
<h1>What a cache would do</h1>
<p class="lead">${escaped(scenario)}</p>
${notes.map((note) => `<p class="note">${escaped(note)}</p>`).join('\n')}
${advice === undefined ? '' : `<h2>What to set</h2>\n<pre>${escaped(advice)}</pre>`}
${sections.map((section) => sectionOf(section, figures)).join('\n')}
<h2>The strategies</h2>
<dl>
${used.map(({ title, how }) => `<dt>${escaped(title)}</dt><dd>${escaped(how)}</dd>`).join('\n')}
</dl>
</main>
</html>
`
}

function sectionOf(section: Section, figures: readonly Figures[]): string {
  const { title, explains, columns, bar } = section
  return `<section>
<h2>${escaped(title)}</h2>
<p class="explain">${escaped(explains)}</p>
<h3>${escaped(bar.title)}</h3>
${barsOf(section, figures)}
<div class="wide" tabindex="0" role="region" aria-label="${escaped(title)}: figures"><table>
<thead><tr><td></td>${columns.map((column) => `<th scope="col">${escaped(column.title)}</th>`).join('')}</tr></thead>
<tbody>
${figures
  .map(
    (one) =>
      `<tr><th scope="row">${escaped(strategyNames[one.strategy].title)}</th>` +
      `${columns.map(({ cell }) => `<td>${escaped(cell(one))}</td>`).join('')}</tr>`,
  )
  .join('\n')}
</tbody></table></div>
</section>`
}

function barsOf({ bar }: Section, figures: readonly Figures[]): string {
  const most = Math.max(...figures.map((one) => bar.value(one)), Number.MIN_VALUE)
  const height = figures.length * rowHeight + 12
  const rows = figures.map((one, n) => {
    const value = bar.value(one)
    const length = Math.max(1, (value / most) * (width - nameWidth - valueWidth))
    const y = n * rowHeight + 8
    const kind = one.strategy === 'breakwater' ? 'own' : 'bar'
    return (
      `<text x="${nameWidth - 10}" y="${y + 17}" text-anchor="end">${escaped(strategyNames[one.strategy].title)}</text>` +
      `<rect class="${kind}" x="${nameWidth}" y="${y}" width="${length.toFixed(1)}" height="${rowHeight - 8}" rx="3"/>` +
      `<text x="${(nameWidth + length + 8).toFixed(1)}" y="${y + 17}">${escaped(bar.text(value))}</text>`
    )
  })
  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${escaped(bar.title)}: the same figures are in the table below">
${rows.join('\n')}
</svg>`
}

function escaped(text: string): string {
  const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
  return text.replace(/[&<>"]/g, (char) => entities[char]!)
}
