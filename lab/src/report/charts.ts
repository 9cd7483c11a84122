// The rows of small multiples: one row per measure, one chart per contender, the same axes along a
// row, so that a glance compares.

import { scaleLinear } from 'd3-scale'
import { contenderNames } from '../contenders/contender.ts'
import { p95OverTime, type Point, runningOverTime, waitingOverTime } from '../run/figures.ts'
import type { ContenderRun } from '../run/run-contender.ts'
import { type Axis, chart } from './chart.ts'
import { inSeconds } from './wording.ts'

interface Measure {
  readonly title: string
  readonly explain: string
  readonly unit: 'count' | 'ms'
  points(run: ContenderRun): readonly Point[]
}

export function chartSections(runs: readonly ContenderRun[]): string {
  const durationMs = Math.max(...runs.map((run) => run.durationMs))
  const fine = durationMs / 80
  const coarse = durationMs / 16
  const measures: readonly Measure[] = [
    {
      title: 'Trending queries running at the database',
      explain: 'The most at any instant. One is what the work needs.',
      unit: 'count',
      points: (run) => runningOverTime(run, fine),
    },
    {
      title: 'Hot endpoint, p95',
      explain: 'By the instant at which a request should have left; given up counts as its wait.',
      unit: 'ms',
      points: (run) => p95OverTime(run, 'hot', coarse),
    },
    {
      title: 'Unrelated endpoint, p95',
      explain: 'A product page that is not cached and shares the connections.',
      unit: 'ms',
      points: (run) => p95OverTime(run, 'unrelated', coarse),
    },
    {
      title: 'Callers waiting for a connection',
      explain: 'Over all processes.',
      unit: 'count',
      points: (run) => waitingOverTime(run, fine),
    },
  ]
  return measures.map((measure) => section(measure, runs)).join('\n')
}

function section(measure: Measure, runs: readonly ContenderRun[]): string {
  const series = runs.map((run) => measure.points(run))
  const most = Math.max(...series.flat().map(({ value }) => value))
  const axis = measure.unit === 'ms' ? timeAxis(most) : countAxis(most)
  const figures = runs.map((run, index) => {
    const points = series[index] ?? []
    const { title } = contenderNames[run.contender]
    const peak = Math.max(0, ...points.map(({ value }) => value))
    const peakText = measure.unit === 'ms' ? inSeconds(peak) : String(peak)
    return `<figure class="panel ${run.contender}" data-unit="${measure.unit}">
<figcaption><b>${title}</b> <output data-rest="peak ${peakText}">peak ${peakText}</output></figcaption>
${chart({
  label: `${measure.title}, ${title}: peak ${peakText}`,
  points,
  durationMs: run.durationMs,
  axis,
  markAt: run.write.beganAt - run.startedAt,
  shape: measure.unit === 'ms' ? 'line' : 'step',
})}
</figure>`
  })
  return `<section>
<h3>${measure.title}</h3>
<p class="explain">${measure.explain}</p>
<div class="panels">${figures.join('\n')}</div>
</section>`
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
