// What every fault has in common: breakwater on a fresh cache, its processes under load from the
// first instant, a hand that does the damage, and a row that says what was expected and what came.

import { type ApiSettings, wallClock } from '../api/messages.ts'
import { applyLoad, forkGenerator } from '../load/apply-load.ts'
import type { Answer } from '../load/messages.ts'
import { type Fleet, startFleet } from '../run/fleet.ts'
import { apiSettings, quietDatabase, readFrom, type Stage, streams } from '../run/stage.ts'

export interface FaultRow {
  readonly name: string
  readonly expected: string
  readonly happened: string
  readonly outcome: 'as expected' | 'not as expected' | 'not run'
}

export interface Fault {
  readonly name: string
  run(stage: Stage): Promise<FaultRow>
}

const ttlMs = 60_000 // nothing expires during a fault
const patienceMs = 10_000

export async function underLoad<Seen>(
  stage: Stage,
  options: {
    use: string
    leaseMs?: number
    processes: number
    /** The value is there before the load, and made anew by schedule. */
    madeEveryMs?: number
  },
  damage: (fleet: Fleet) => Promise<Seen>,
): Promise<{ seen: Seen; fleet: Fleet; answers: readonly Answer[]; startedAt: number }> {
  const { faults, unrelatedPerSecond } = stage.plan
  const { use, leaseMs, madeEveryMs } = options
  const settings: ApiSettings =
    madeEveryMs === undefined
      ? {
          ...apiSettings(stage, 'breakwater', use),
          ttlMs,
          leaseMs,
          extraQueryMs: faults.extraQueryMs,
        }
      : { ...apiSettings(stage, 'breakwater-ahead', use), ttlMs: madeEveryMs }
  const generator = forkGenerator(stage.signal)
  const fleet = await startFleet(settings, options.processes, stage.signal)
  try {
    if (madeEveryMs !== undefined) for (const { port } of fleet.members) await readFrom(port)
    const startedAt = wallClock() + 150
    const order = {
      ports: fleet.members.map(({ port }) => port),
      streams: streams(faults.hotPerSecond, unrelatedPerSecond),
      startAt: startedAt,
      durationMs: faults.runMs,
      timeoutMs: patienceMs,
    }
    const [seen, answers] = await Promise.all([
      damage(fleet),
      applyLoad(generator, order, () => undefined),
    ])
    return { seen, fleet, answers, startedAt }
  } finally {
    await fleet.stop()
    await quietDatabase(stage)
  }
}

export function row(
  name: string,
  expected: string,
  findings: readonly { readonly text: string; readonly ok: boolean }[],
): FaultRow {
  return {
    name,
    expected,
    happened: findings.map(({ text, ok }) => (ok ? text : `${text} (!)`)).join('; '),
    outcome: findings.every(({ ok }) => ok) ? 'as expected' : 'not as expected',
  }
}
