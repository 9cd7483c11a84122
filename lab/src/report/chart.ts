// One small chart as inline SVG: a line over time on axes that all charts of a row share. Colours
// come from the page's variables, so that a change of theme needs no redrawing.

import { scaleLinear, scaleLog } from 'd3-scale'
import { area, line } from 'd3-shape'
import type { Point } from '../run/figures.ts'

export interface Axis {
  readonly kind: 'linear' | 'log'
  readonly min: number
  readonly max: number
  readonly ticks: readonly number[]
  label(value: number): string
}

export interface ChartOptions {
  readonly label: string
  readonly points: readonly Point[]
  readonly durationMs: number
  readonly axis: Axis
  /** Writes, and what somebody did by a button. */
  readonly marks: readonly number[]
  readonly shape: 'step' | 'line'
  /** The axis ends at this instant, which is now: it counts backwards from there. */
  readonly until?: 'now' | undefined
}

const height = 124
const left = 46
const top = 8
const bottom = height - 20

export function chart(options: ChartOptions): string {
  const { label, points, durationMs, axis, marks, shape, until } = options
  const width = until === undefined ? 240 : 520 // one among others, or alone
  const right = width - (until === undefined ? 8 : 14)
  const x = scaleLinear([0, durationMs], [left, right])
  const scale = axis.kind === 'log' ? scaleLog() : scaleLinear()
  const y = scale.domain([axis.min, axis.max]).range([bottom, top]).clamp(true)
  const half = points.length > 1 ? ((points[1]?.at ?? 0) - (points[0]?.at ?? 0)) / 2 : 0
  // A bucket's value stands for the whole bucket.
  const drawn =
    shape === 'step' ? steps(points, half * 2) : points.map((p) => ({ ...p, at: p.at + half }))
  const stroke =
    line<Point>(
      (p) => x(p.at),
      (p) => y(p.value),
    )(drawn) ?? ''
  const fill =
    area<Point>(
      (p) => x(p.at),
      bottom,
      (p) => y(p.value),
    )(drawn) ?? ''
  const seconds = x.ticks(Math.min(5, Math.floor(durationMs / 1000) || 1))
  const timeAt = (at: number): string =>
    until === undefined
      ? `${at / 1000} s`
      : at === durationMs
        ? 'now'
        : `\u2212${(durationMs - at) / 1000} s`
  const n = (value: number): string => value.toFixed(1)
  const data = points.map((p) => [p.at, Math.round(p.value * 10) / 10])

  return `<svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${label}"
 data-points='${JSON.stringify(data)}' data-span="${durationMs}" data-left="${left / width}" data-right="${right / width}"${until === undefined ? '' : ` data-until="${until}"`}>
${axis.ticks
  .map(
    (tick) =>
      `<line class="grid" x1="${left}" x2="${right}" y1="${n(y(tick))}" y2="${n(y(tick))}"/>` +
      `<text class="tick" x="${left - 5}" y="${n(y(tick) + 3.5)}" text-anchor="end">${axis.label(tick)}</text>`,
  )
  .join('\n')}
${seconds
  .map(
    (at) =>
      `<text class="tick" x="${n(x(at))}" y="${height - 5}" text-anchor="middle">${timeAt(at)}</text>`,
  )
  .join('\n')}
${marks
  .map((at) => `<line class="mark" x1="${n(x(at))}" x2="${n(x(at))}" y1="${top}" y2="${bottom}"/>`)
  .join('')}
<path class="fill" d="${rounded(fill)}"/>
<path class="stroke" d="${rounded(stroke)}"/>
<line class="cursor" x1="0" x2="0" y1="${top}" y2="${bottom}" visibility="hidden"/>
</svg>`
}

function steps(points: readonly Point[], bucketMs: number): Point[] {
  return points.flatMap(({ at, value }) => [
    { at, value },
    { at: at + bucketMs, value },
  ])
}

function rounded(path: string): string {
  return path.replace(/\d+\.\d+/g, (number) => Number(number).toFixed(1))
}
