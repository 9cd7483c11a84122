// The order of events: the contenders one after the other, then the faults, then what came of it.

import { type ContenderId, contenderIds, contenderNames } from '../contenders/contender.ts'
import type { FaultRow } from '../faults/fault-row.ts'
import { holderKilled } from '../faults/holder-killed.ts'
import { makerKilled } from '../faults/maker-killed.ts'
import { queryOutlastsLease } from '../faults/query-outlasts-lease.ts'
import { writeDuringLoad } from '../faults/write-during-load.ts'
import type { Progress } from '../progress.ts'
import { judge } from '../report/judge.ts'
import { measuredOf } from '../report/measured.ts'
import { describe, type Result } from '../report/result.ts'
import { inSeconds, plural, ratio } from '../report/wording.ts'
import type { ContenderRun } from './contender-run.ts'
import { figuresOf } from './figures.ts'
import { type LabOptions, onPreparedGround } from './prepare.ts'
import { runContender } from './run-contender.ts'
import type { Stage } from './stage.ts'

const faultsInOrder = [holderKilled, queryOutlastsLease, writeDuringLoad, makerKilled]

export function runLab(
  options: LabOptions,
): Promise<{ result: Result; runs: readonly ContenderRun[] }> {
  const { progress, live } = options
  return onPreparedGround(options, async ({ stage, setting, unlessStopped }) => {
    const { plan, shop, redis } = stage
    const contenders = contenderIds.filter((id) => redis !== undefined || !id.startsWith('lock'))
    live.record.planned({
      setting: describe(setting),
      contenders,
      faults: faultsInOrder.map(({ name }) => name),
    })

    const runs: ContenderRun[] = []
    for (const id of contenders) {
      runs.push(await unlessStopped(showContender(stage, id, progress)))
    }
    const faults: FaultRow[] = []
    for (const fault of faultsInOrder) {
      progress.live(`breakwater, when ${fault.name} …`)
      live.record.faultBegan(fault.name)
      const row = await unlessStopped(fault.run(stage))
      faults.push(row)
      live.record.faultEnded(row)
      progress.done(`breakwater, when ${row.name}: ${row.outcome}`)
    }
    const { disturbances } = live.controls
    const result: Result = {
      setting,
      contenders: runs.map(figuresOf),
      measured: runs.map(measuredOf),
      faults,
      disturbances,
      notes: [
        ...(redis === undefined ? [withoutRedis] : []),
        ...(disturbances.length === 0 ? [] : [disturbed(disturbances.length)]),
      ],
      verdict: judge({
        plan,
        runs,
        faults,
        disturbances,
        shared: redis !== undefined,
        queryMs: shop.queryMs,
      }),
    }
    return { result, runs }
  })
}

const withoutRedis =
  'there was no Redis, so each process had a cache of its own. This run cannot show what breakwater ' +
  'does across processes and hosts: one query in the whole fleet, waiters woken by push, takeover ' +
  'after a crash, invalidation everywhere. The contenders that need Redis were left out.'

function disturbed(presses: number): string {
  return (
    `somebody pressed ${plural(presses, 'button', 'buttons')} of the live page, so that these figures ` +
    'are of a disturbed run and compare with nothing.'
  )
}

async function showContender(
  stage: Stage,
  id: ContenderId,
  progress: Progress,
): Promise<ContenderRun> {
  const { title } = contenderNames[id]
  const padded = title.padEnd(16)
  const begun = performance.now()
  progress.live(`${padded} starting`)
  const run = await runContender(stage, id, ({ endpoints: { hot, unrelated }, running }) => {
    const sent = hot.sent + unrelated.sent
    progress.live(
      `${padded} ${((performance.now() - begun) / 1000).toFixed(1)} s, ${sent} sent, ` +
        `${sent - hot.done - unrelated.done} unanswered, ${hot.errors + unrelated.errors} errors, ` +
        `${plural(running, 'query', 'queries')} running`,
    )
  })
  const { queriesPerExpiry, hot, unrelated, errors } = figuresOf(run)
  const said =
    `${ratio(queriesPerExpiry).padStart(4)} queries per expiry, ` +
    `p95 ${inSeconds(hot.p95)} hot, ${inSeconds(unrelated.p95)} other, ${errors} errors`
  progress.done(`${padded} ${said}`)
  stage.live.record.contenderEnded(run, `${title}: ${said.trim()}`)
  return run
}
