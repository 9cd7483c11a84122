// The trace of a scene that is still on. Queries and waits are drawn from the fleet's own records, as
// they will be in the report; p95 from what the generator tells on the way, until its answers are here.

import type { LoadProgress } from '../load/start-generator.ts'
import { fineBuckets, type Trace } from '../report/measures.ts'
import { type Point, runningOverTime, waitingOverTime } from '../run/figures.ts'
import type { Scene } from './scene.ts'

/** Of free play, which has no end. */
const playWindowMs = 60_000
const mostPoints = 400 // more than a minute of them

export class GrowingTrace {
  readonly #scene: Scene
  readonly #marks: number[] = []
  readonly #p95: { at: number; hot: number | undefined; unrelated: number | undefined }[] = []

  constructor(scene: Scene) {
    this.#scene = scene
    if (scene.writeAtMs !== undefined) this.#marks.push(scene.startedAt + scene.writeAtMs)
  }

  load({ at, endpoints: { hot, unrelated } }: LoadProgress): void {
    this.#p95.push({ at, hot: hot.p95, unrelated: unrelated.p95 })
    if (this.#p95.length > mostPoints) this.#p95.shift()
  }

  mark(at: number): void {
    this.#marks.push(at)
    if (this.#marks.length > mostPoints) this.#marks.shift()
  }

  at(now: number): Trace {
    const { contender, fleet, startedAt, durationMs } = this.#scene
    const length = durationMs ?? playWindowMs
    const bucketMs = length / fineBuckets
    const from =
      durationMs === undefined
        ? Math.ceil((now - playWindowMs) / bucketMs) * bucketMs // whole buckets: a peak keeps its shape
        : startedAt
    const span = { startedAt: from, durationMs: Math.max(0, Math.min(length, now - from)) }
    const p95 = (endpoint: 'hot' | 'unrelated'): Point[] =>
      this.#p95.flatMap((point) => {
        const value = point[endpoint]
        const at = point.at - from
        return value === undefined || at < 0 || at > length ? [] : [{ at, value }]
      })
    const sinceStart = (points: Point[]): Point[] =>
      points.filter(({ at }) => at > startedAt - from - bucketMs)
    return {
      contender,
      durationMs: length,
      marks: this.#marks.map((at) => at - from).filter((at) => at >= 0 && at <= length),
      points: {
        running: sinceStart(runningOverTime({ ...span, queries: fleet.queries }, bucketMs)),
        hot: p95('hot'),
        unrelated: p95('unrelated'),
        waiting: sinceStart(waitingOverTime({ ...span, pool: fleet.pool }, bucketMs)),
      },
      until: durationMs === undefined ? 'now' : undefined,
    }
  }
}
