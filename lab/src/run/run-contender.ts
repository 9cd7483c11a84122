// One contender: fresh processes, the value cached once, then the whole load, with several expiries
// and one write on the way. The write leaves everybody with a cold key.

import { wallClock } from '../api/messages.ts'
import type { ContenderId } from '../contenders/contender.ts'
import { applyLoad, forkGenerator, type LoadProgress } from '../load/apply-load.ts'
import type { Answer } from '../load/messages.ts'
import { type PoolSample, type QueryRun, startFleet } from './fleet.ts'
import { apiSettings, quietDatabase, readFrom, type Stage, streams, writeTo } from './stage.ts'

export interface ContenderRun {
  readonly contender: ContenderId
  readonly startedAt: number
  /** When the value was in the cache before the load began. */
  readonly cachedAt: number | undefined
  /** A query that the schedule had begun before ended then. */
  readonly loadingUntil: number | undefined
  readonly durationMs: number
  readonly timeoutMs: number
  readonly answers: readonly Answer[]
  readonly queries: readonly QueryRun[]
  readonly pool: readonly PoolSample[]
  /** When the write began and when its invalidation was acknowledged; Infinity: never. */
  readonly write: { readonly beganAt: number; readonly endedAt: number; readonly revision: number }
}

export async function runContender(
  stage: Stage,
  contender: ContenderId,
  progress: (state: LoadProgress & { running: number }) => void,
): Promise<ContenderRun> {
  const { plan } = stage
  const generator = forkGenerator(stage.signal)
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
    const writer = setTimeout(() => {
      const port = fleet.members[0]?.port ?? 0
      void writeTo(port, plan.timeoutMs).then((revision) => {
        if (revision !== undefined) Object.assign(write, { endedAt: wallClock(), revision })
      })
    }, write.beganAt - wallClock())
    const answers = await applyLoad(
      generator,
      {
        ports: fleet.members.map(({ port }) => port),
        streams: streams(stage.hotPerSecond, plan.unrelatedPerSecond),
        startAt: startedAt,
        durationMs: plan.runMs,
        timeoutMs: plan.timeoutMs,
      },
      (state) => {
        const running = fleet.queries.filter(({ endedAt }) => endedAt === undefined).length
        progress({ ...state, running })
      },
    ).finally(() => clearTimeout(writer))
    return {
      contender,
      startedAt,
      cachedAt: fleet.queries.findLast(({ endedAt }) => (endedAt ?? Infinity) < startedAt)?.endedAt,
      loadingUntil: fleet.queries.find(
        ({ beganAt, endedAt }) => beganAt < startedAt && (endedAt ?? Infinity) >= startedAt,
      )?.endedAt,
      durationMs: plan.runMs,
      timeoutMs: plan.timeoutMs,
      answers,
      queries: fleet.queries.filter(({ beganAt }) => beganAt >= startedAt),
      pool: fleet.pool,
      write,
    }
  } finally {
    await fleet.stop()
    await quietDatabase(stage)
  }
}
