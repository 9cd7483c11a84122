// The state of the lab as pieces of the page, each under the id of the element that it fills. The
// server sends those that have changed; in this order, since the rows hold the panels. Charts that
// no longer change are drawn once.

import { contenderNames } from '../contenders/contender.ts'
import { axisOf, chartRow, figure, panel } from '../report/charts.ts'
import { escape } from '../report/escape.ts'
import { type Measure, measures, type Trace } from '../report/measures.ts'
import { faultItem, figuresTable, lead } from '../report/page-parts.ts'
import { legend } from '../report/terminal.ts'
import type { FaultState, LiveState } from './live-record.ts'
import { processList, tiles } from './tiles.ts'

export type Fragments = ReadonlyMap<string, string>

/** Renders states; keeps the charts that it has drawn. */
export function createRenderer(): (state: LiveState) => Fragments {
  const drawn = new Map<string, { trace: Trace; max: number; html: string }>()

  const panels = ({ contenders, traces }: LiveState): [string, string][] =>
    measures.flatMap((measure) => {
      const axis = axisOf(measure, [...traces.values()])
      return contenders.map((contender): [string, string] => {
        const id = panelId(measure, contender)
        const trace = traces.get(contender)
        if (trace === undefined) return [id, toCome(contender)]
        const known = drawn.get(id)
        if (known?.trace === trace && known.max === axis.max) return [id, known.html]
        const html = panel(measure, trace, axis)
        drawn.set(id, { trace, max: axis.max, html })
        return [id, html]
      })
    })

  return (state) =>
    new Map([
      ['phase', phase(state)],
      ['setting', escape(state.setting)],
      ['lead', state.result === undefined ? '' : lead(state.figures)],
      ['notes', notes(state)],
      ['tiles', tiles(state.now)],
      ['processes', processList(state.now)],
      ['rows', rows(state)],
      ...panels(state),
      ['faults', state.faults.map(fault).join('\n')],
      ['figures', figures(state)],
    ])
}

function phase({ phase: text, now, result }: LiveState): string {
  if (result !== undefined || now === undefined) return `<b>${escape(text)}</b>`
  const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`
  const { durationMs } = now
  if (durationMs === undefined) return `<b>${escape(now.title)}</b> for ${seconds(now.elapsedMs)}`
  const elapsedMs = Math.min(now.elapsedMs, durationMs)
  return (
    `<b>${escape(now.title)}</b> ${seconds(elapsedMs)} of ${seconds(durationMs)} ` +
    `<progress max="${durationMs}" value="${Math.round(elapsedMs)}" aria-label="how far it is"></progress>`
  )
}

function notes({ result }: LiveState): string {
  return (result?.notes ?? []).map((note) => `<p class="note">Note: ${escape(note)}</p>`).join('\n')
}

/** Without their panels, so that a row is laid out once. */
function rows({ contenders }: LiveState): string {
  if (contenders.length === 0) return '<p class="explain">Nothing is under load yet.</p>'
  return measures
    .map((measure) =>
      chartRow(
        measure,
        contenders
          .map((contender) => figure(contender, measure, '', panelId(measure, contender)))
          .join('\n'),
      ),
    )
    .join('\n')
}

function panelId({ id }: Measure, contender: Trace['contender']): string {
  return `panel-${id}-${contender}`
}

function toCome(contender: Trace['contender']): string {
  return `<figcaption><b>${contenderNames[contender].title}</b> <span class="reading">to come</span></figcaption>`
}

function fault(state: FaultState): string {
  switch (state.kind) {
    case 'done':
      return faultItem(state.row)
    case 'to come':
    case 'running':
      return `<li class="open"><b>${escape(state.name)}</b> <span class="outcome">${state.kind === 'running' ? 'running now' : 'to come'}</span></li>`
  }
}

function figures({ mode, figures: all }: LiveState): string {
  if (mode === 'play') return ''
  if (all.length === 0) return '<p class="explain">The first contender has not ended yet.</p>'
  return `${figuresTable(all)}\n${legend.map((line) => `<p class="explain">${line}</p>`).join('\n')}`
}
