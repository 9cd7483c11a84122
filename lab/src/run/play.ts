// Free play: breakwater under load until somebody stops it, with every button to press. Nothing is
// measured and nothing is kept, so it may go on for days.

import { wallClock } from '../api/messages.ts'
import type { ContenderId } from '../contenders/contender.ts'
import { startGenerator } from '../load/start-generator.ts'
import { describePlay } from '../report/result.ts'
import { startFleet } from './fleet.ts'
import { type LabOptions, onPreparedGround } from './prepare.ts'
import { readFrom } from './requests.ts'
import { apiSettings, streams } from './stage.ts'

const contender: ContenderId = 'breakwater'
const patienceMs = 10_000 // what a killed holder or a slow database costs is to be seen, not cut off

export interface Played {
  readonly seconds: number
  readonly queries: number
  readonly requests: number
  readonly errors: number
}

export function play(options: LabOptions): Promise<Played> {
  const { progress, live } = options
  return onPreparedGround(options, async ({ stage, setting, unlessStopped }) => {
    const { plan } = stage
    live.record.planned({ setting: describePlay(setting), contenders: [contender], faults: [] })
    const generator = startGenerator(stage.signal)
    const fleet = await unlessStopped(
      startFleet(apiSettings(stage, contender, 'play'), plan.processes, stage.signal),
    )
    try {
      for (const { port } of fleet.members) await unlessStopped(readFrom(port))
      const startedAt = wallClock()
      live.record.sceneBegan({
        kind: 'play',
        title: 'breakwater, free play',
        contender,
        fleet,
        startedAt,
        queriesBefore: fleet.record.total,
        addPort: generator.addPort,
      })
      progress.done('free play: breakwater is under load until Ctrl-C, or Stop on the page')
      const order = {
        ports: fleet.members.map(({ port }) => port),
        streams: streams(stage.hotPerSecond, plan.unrelatedPerSecond),
        startAt: startedAt,
        timeoutMs: patienceMs,
      }
      let requests = 0
      let errors = 0
      const applied = generator.apply(order, (state) => {
        live.record.load(state)
        const { hot, unrelated } = state.endpoints
        requests = hot.sent + unrelated.sent
        errors = hot.errors + unrelated.errors
        const { running, total } = fleet.record
        progress.live(
          `${requests} requests, ${errors} errors, ${running} of ${total} queries running`,
        )
      })
      await untilStopped(live.controls.stopped, stage.signal, applied)
      const seconds = Math.round((wallClock() - startedAt) / 1000)
      return { seconds, queries: fleet.record.total, requests, errors }
    } finally {
      live.record.sceneEnded()
      await live.controls.settle()
      await fleet.stop()
    }
  })
}

/** Stop and Ctrl-C both end it well; a generator that dies ends it badly. */
function untilStopped(
  stop: AbortSignal,
  interrupt: AbortSignal,
  applied: Promise<unknown>,
): Promise<void> {
  return new Promise((resolve, reject) => {
    for (const signal of [stop, interrupt]) {
      if (signal.aborted) resolve()
      signal.addEventListener('abort', () => resolve(), { once: true })
    }
    applied.then(() => resolve(), reject)
  })
}
