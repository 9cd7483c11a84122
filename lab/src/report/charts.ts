// The rows of small multiples: one row per measure, one chart per contender, the same axes along a
// row, so that a glance compares.

import { scaleLinear } from 'd3-scale'
import { contenderNames } from '../contenders/contender.ts'
import { type Axis, chart } from './chart.ts'
import { type Measure, measures, type Trace } from './measures.ts'
import { inSeconds } from './wording.ts'

export function chartSections(traces: readonly Trace[]): string {
  return measures
    .map((measure) => {
      const axis = axisOf(measure, traces)
      return chartRow(
        measure,
        traces
          .map((trace) => figure(trace.contender, measure, panel(measure, trace, axis)))
          .join('\n'),
      )
    })
    .join('\n')
}

export function chartRow({ title, explain }: Measure, panels: string): string {
  return `<section>
<h3>${title}</h3>
<p class="explain">${explain}</p>
<div class="panels">${panels}</div>
</section>`
}

/** `id`: of what is drawn again while it grows. */
export function figure(
  contender: Trace['contender'],
  { unit }: Measure,
  content: string,
  id?: string,
): string {
  const named = id === undefined ? '' : ` id="${id}"`
  return `<figure class="panel ${contender}" data-unit="${unit}"${named}>${content}</figure>`
}

/** The caption and the chart. */
export function panel(measure: Measure, trace: Trace, axis: Axis): string {
  const { title } = contenderNames[trace.contender]
  const points = trace.points[measure.id]
  const peak = Math.max(0, ...points.map(({ value }) => value))
  const peakText =
    points.length === 0 ? '–' : measure.unit === 'ms' ? inSeconds(peak) : String(peak)
  return `
<figcaption><b>${title}</b> <span class="reading" data-rest="peak ${peakText}">peak ${peakText}</span></figcaption>
${chart({
  label: `${measure.title}, ${title}: peak ${peakText}`,
  points,
  durationMs: trace.durationMs,
  axis,
  marks: trace.marks,
  shape: measure.unit === 'ms' ? 'line' : 'step',
  until: trace.until,
})}
`
}

export function axisOf({ id, unit }: Measure, traces: readonly Trace[]): Axis {
  const values = traces.flatMap(({ points }) => points[id].map(({ value }) => value))
  const most = Math.max(0, ...values)
  return unit === 'ms' ? timeAxis(most) : countAxis(most)
}

function countAxis(most: number): Axis {
  const max = Math.max(4, most)
  const ticks = scaleLinear([0, max], [0, 1]).ticks(4).filter(Number.isInteger)
  return { kind: 'linear', min: 0, max: Math.max(max, ticks.at(-1) ?? 0), ticks, label: String }
}

function timeAxis(most: number): Axis {
  const ticks = [1, 10, 100, 1000, 10_000].filter((tick) => tick <= Math.max(1000, most * 1.5))
  return { kind: 'log', min: 1, max: Math.max(1000, most), ticks, label: shortTime }
}

function shortTime(ms: number): string {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`
}
