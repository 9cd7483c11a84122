// What every fault has in common: breakwater on a fresh cache, its processes under load from the
// first instant, and a hand that does the damage.

import { type ApiSettings, wallClock } from '../api/messages.ts'
import type { Answer } from '../load/messages.ts'
import { startGenerator } from '../load/start-generator.ts'
import { type Fleet, startFleet } from '../run/fleet.ts'
import { readFrom } from '../run/requests.ts'
import { apiSettings, quietDatabase, type Stage, streams } from '../run/stage.ts'
import type { FaultRow } from './fault-row.ts'

export interface Fault {
  readonly name: string
  run(stage: Stage): Promise<FaultRow>
}

const ttlMs = 60_000 // nothing expires during a fault
const patienceMs = 10_000

export async function underLoad<Seen>(
  stage: Stage,
  options: {
    name: string
    use: string
    leaseMs?: number
    processes: number
    /** The value is there before the load, and made anew by schedule. */
    madeEveryMs?: number
  },
  damage: (fleet: Fleet) => Promise<Seen>,
): Promise<{ seen: Seen; fleet: Fleet; answers: readonly Answer[]; startedAt: number }> {
  const { faults, unrelatedPerSecond } = stage.plan
  const { name, use, leaseMs, madeEveryMs } = options
  const settings: ApiSettings =
    madeEveryMs === undefined
      ? {
          ...apiSettings(stage, 'breakwater', use),
          ttlMs,
          leaseMs,
          extraQueryMs: faults.extraQueryMs,
        }
      : { ...apiSettings(stage, 'breakwater-ahead', use), ttlMs: madeEveryMs }
  const generator = startGenerator(stage.signal)
  const fleet = await startFleet(settings, options.processes, stage.signal)
  try {
    if (madeEveryMs !== undefined) for (const { port } of fleet.members) await readFrom(port)
    const startedAt = wallClock() + 150
    stage.live.record.sceneBegan({
      kind: 'fault',
      title: `breakwater, when ${name}`,
      contender: settings.contender,
      fleet,
      startedAt,
      queriesBefore: fleet.record.total,
      durationMs: faults.runMs,
      addPort: generator.addPort,
    })
    const order = {
      ports: fleet.members.map(({ port }) => port),
      streams: streams(faults.hotPerSecond, unrelatedPerSecond),
      startAt: startedAt,
      durationMs: faults.runMs,
      timeoutMs: patienceMs,
    }
    const [seen, answers] = await Promise.all([
      damage(fleet),
      generator.apply(order, (state) => stage.live.record.load(state)),
    ])
    return { seen, fleet, answers, startedAt }
  } finally {
    stage.live.record.sceneEnded()
    await fleet.stop()
    await quietDatabase(stage)
  }
}
