// report.html: one file that asks nobody for anything. The same figures as in the terminal, and the
// course of each run over time.

import { contenderNames } from '../contenders/contender.ts'
import type { ContenderRun } from '../run/contender-run.ts'
import { chartSections } from './charts.ts'
import { escape } from './escape.ts'
import { traceOf } from './measures.ts'
import { behaviour } from './page-behaviour.ts'
import { definition, faultItem, figuresTable, lead } from './page-parts.ts'
import { style } from './page-style.ts'
import { describe, type Result } from './result.ts'
import { legend } from './terminal.ts'

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
<p class="lead">${lead(result.contenders)}</p>
<p class="setting">${escape(describe(result.setting))}</p>
${result.notes.map((note) => `<p class="note">Note: ${escape(note)}</p>`).join('\n')}
<h2>Figures</h2>
${figuresTable(result.contenders)}
${legend.map((line) => `<p class="explain">${line}</p>`).join('\n')}
<h2>What goes wrong, with breakwater</h2>
<ul class="faults">${result.faults.map(faultItem).join('\n')}</ul>
<h2>Over time</h2>
<p class="explain">The same axes along each row. The dashed line is the write that invalidates${result.disturbances.length === 0 ? '' : ', or a button that somebody pressed'}. Point at a
chart to read all of its row at that instant.</p>
${chartSections(runs.map((run) => traceOf(run, pressesOf(result, run))))}
<h2>The contenders</h2>
<dl>${result.contenders.map(({ contender }) => definition(contender)).join('')}</dl>
</main>
<script>${behaviour}</script>
</body>
</html>
`
}

function pressesOf({ disturbances }: Result, { contender }: ContenderRun): number[] {
  const { title } = contenderNames[contender]
  return disturbances.filter(({ during }) => during === title).map(({ atMs }) => atMs)
}
