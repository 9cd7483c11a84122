// What every fault has in common: breakwater on a fresh cache, its processes under load from the
// first instant, a hand that does the damage, and a row that says what was expected and what came.

import { wallClock } from '../api/messages.ts'
import { applyLoad } from '../load/apply-load.ts'
import type { Answer } from '../load/messages.ts'
import { type Fleet, startFleet } from '../run/fleet.ts'
import { apiSettings, quietDatabase, type Stage, streams } from '../run/stage.ts'

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
  options: { use: string; leaseMs?: number; processes: number },
  damage: (fleet: Fleet) => Promise<Seen>,
): Promise<{ seen: Seen; fleet: Fleet; answers: readonly Answer[]; startedAt: number }> {
  const { faults, unrelatedPerSecond } = stage.plan
  const settings = {
    ...apiSettings(stage, 'breakwater', options.use),
    ttlMs,
    leaseMs: options.leaseMs,
    extraQueryMs: faults.extraQueryMs,
  }
  const fleet = await startFleet(settings, options.processes, stage.signal)
  try {
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
      applyLoad(order, stage.signal, () => undefined),
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
