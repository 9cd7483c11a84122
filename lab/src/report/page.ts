// report.html: one file that asks nobody for anything. The same figures as in the terminal, and the
// course of each run over time.

import { contenderNames, type ContenderId } from '../contenders/contender.ts'
import type { FaultRow } from '../faults/fault.ts'
import type { Figures, Latency } from '../run/figures.ts'
import type { ContenderRun } from '../run/run-contender.ts'
import { chartSections } from './charts.ts'
import { behaviour } from './page-behaviour.ts'
import { style } from './page-style.ts'
import { describe, type Result } from './result.ts'
import { legend } from './terminal.ts'
import { inSeconds, ratio, share } from './wording.ts'

export function reportPage(result: Result, runs: readonly ContenderRun[]): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>breakwater: lab report</title>
<style>${style}</style>
</head>
<body>
<header>
<h1>One hot key, one slow query</h1>
<button type="button" id="theme" aria-label="Change between light and dark">◐ <span>Theme</span></button>
</header>
<main>
<p class="lead">${lead(result)}</p>
<p class="setting">${escape(describe(result.setting))}</p>
${result.notes.map((note) => `<p class="note">Note: ${escape(note)}</p>`).join('\n')}
<h2>Figures</h2>
${figuresTable(result.contenders)}
${legend.map((line) => `<p class="explain">${line}</p>`).join('\n')}
<h2>What goes wrong, with breakwater</h2>
${faultList(result.faults)}
<h2>Over time</h2>
<p class="explain">The same axes along each row. The dashed line is the write that invalidates. Point at a
chart to read all of its row at that instant.</p>
${chartSections(runs)}
<h2>The contenders</h2>
<dl>${result.contenders.map(({ contender }) => definition(contender)).join('')}</dl>
</main>
<script>${behaviour}</script>
</body>
</html>
`
}

function lead({ contenders }: Result): string {
  const of = (id: ContenderId): Figures | undefined =>
    contenders.find((one) => one.contender === id)
  const [plain, ours] = [of('plain'), of('breakwater')]
  if (plain === undefined || ours === undefined) return ''
  return (
    `Without protection the database ran up to <b>${plain.mostAtOnce}</b> copies of the same query at once ` +
    `and the page that merely shares it answered in <b>${inSeconds(plain.unrelated.p95)}</b> (p95). ` +
    `Behind breakwater it ran <b>${ours.mostAtOnce}</b>, and that page answered in ` +
    `<b>${inSeconds(ours.unrelated.p95)}</b>.`
  )
}

function figuresTable(all: readonly Figures[]): string {
  const cell = (label: string, text: string): string => `<td data-label="${label}">${text}</td>`
  const times = (label: string, { p50, p95, p99, max }: Latency): string =>
    Object.entries({ p50, p95, p99, max })
      .map(([name, ms]) => cell(`${label} ${name}`, inSeconds(ms)))
      .join('')
  const rows = all.map(
    (
      one,
    ) => `<tr class="${one.contender}"><th scope="row">${contenderNames[one.contender as ContenderId].title}</th>
${cell('queries per expiry', ratio(one.queriesPerExpiry))}${cell('queries', String(one.queries))}${cell('expiries', String(one.expiries))}${cell('most at once', String(one.mostAtOnce))}${cell('most waiting', String(one.mostWaiting))}
${times('hot', one.hot)}
${times('unrelated', one.unrelated)}
${cell('outdated', String(one.outdated))}${cell('errors', share(one.errors, one.hot.requests + one.unrelated.requests))}</tr>`,
  )
  const percentiles =
    '<th scope="col">p50</th><th scope="col">p95</th><th scope="col">p99</th><th scope="col">max</th>'
  return `<div class="wide"><table class="figures">
<thead><tr><th rowspan="2"></th><th colspan="5" scope="colgroup">trending queries at the database</th><th colspan="4" scope="colgroup">hot endpoint</th><th colspan="4" scope="colgroup">unrelated endpoint</th><th rowspan="2" scope="col">outdated</th><th rowspan="2" scope="col">errors</th></tr>
<tr><th scope="col">per expiry</th><th scope="col">in all</th><th scope="col">expiries</th><th scope="col">at once</th><th scope="col">waiting</th>${percentiles}${percentiles}</tr></thead>
<tbody>${rows.join('\n')}</tbody>
</table></div>`
}

function faultList(faults: readonly FaultRow[]): string {
  const item = ({ name, expected, happened, outcome }: FaultRow): string => {
    const kind = outcome === 'as expected' ? 'good' : outcome === 'not run' ? 'open' : 'bad'
    return `<li class="${kind}"><b>${escape(name)}</b> <span class="outcome">${outcome}</span>
<div><i>expected</i> ${escape(expected)}</div><div><i>happened</i> ${escape(happened)}</div></li>`
  }
  return `<ul class="faults">${faults.map(item).join('\n')}</ul>`
}

function definition(contender: string): string {
  const { title, how } = contenderNames[contender as ContenderId]
  return `<dt class="${contender}">${title}</dt><dd>${escape(how)}</dd>`
}

function escape(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
