// One contender: fresh processes, the value cached once, then the whole load, with several expiries
// and one write on the way. The write leaves everybody with a cold key.

import { wallClock } from '../api/messages.ts'
import { type ContenderId, contenderNames } from '../contenders/contender.ts'
import { type LoadProgress, startGenerator } from '../load/start-generator.ts'
import type { ContenderRun } from './contender-run.ts'
import { startFleet } from './fleet.ts'
import { readFrom, writeTo } from './requests.ts'
import { apiSettings, quietDatabase, type Stage, streams } from './stage.ts'

export async function runContender(
  stage: Stage,
  contender: ContenderId,
  progress: (state: LoadProgress & { running: number }) => void,
): Promise<ContenderRun> {
  const { plan, live } = stage
  const generator = startGenerator(stage.signal)
  const fleet = await startFleet(
    apiSettings(stage, contender, contender),
    plan.processes,
    stage.signal,
  )
  try {
    for (const { port } of fleet.members) await readFrom(port)
    const startedAt = wallClock() + 150
    const write = {
      beganAt: startedAt + plan.runMs * plan.writeAt,
      endedAt: Infinity,
      revision: 0,
    }
    live.record.sceneBegan({
      kind: 'contender',
      title: contenderNames[contender].title,
      contender,
      fleet,
      startedAt,
      queriesBefore: fleet.record.total,
      durationMs: plan.runMs,
      writeAtMs: plan.runMs * plan.writeAt,
      addPort: generator.addPort,
    })
    const writer = setTimeout(() => {
      const port = fleet.members[0]?.port ?? 0
      void writeTo(port, plan.timeoutMs).then((revision) => {
        if (revision !== undefined) Object.assign(write, { endedAt: wallClock(), revision })
      })
    }, write.beganAt - wallClock())
    const order = {
      ports: fleet.members.map(({ port }) => port),
      streams: streams(stage.hotPerSecond, plan.unrelatedPerSecond),
      startAt: startedAt,
      durationMs: plan.runMs,
      timeoutMs: plan.timeoutMs,
    }
    const answers = await generator
      .apply(order, (state) => {
        live.record.load(state)
        progress({ ...state, running: fleet.record.running })
      })
      .finally(() => clearTimeout(writer))
    return {
      contender,
      startedAt,
      cachedAt: fleet.record.queries.findLast(({ endedAt }) => (endedAt ?? Infinity) < startedAt)
        ?.endedAt,
      loadingUntil: fleet.record.queries.find(
        ({ beganAt, endedAt }) => beganAt < startedAt && (endedAt ?? Infinity) >= startedAt,
      )?.endedAt,
      durationMs: plan.runMs,
      timeoutMs: plan.timeoutMs,
      answers,
      queries: fleet.record.queries.filter(({ beganAt }) => beganAt >= startedAt),
      pool: fleet.record.pool,
      write,
    }
  } finally {
    live.record.sceneEnded()
    await live.controls.settle()
    await fleet.stop()
    await quietDatabase(stage)
  }
}
