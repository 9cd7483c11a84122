// The process that holds the lease is SIGKILLed while everybody waits for its query. The others must
// notice by the lease's end alone, run one query, and answer everyone.

import { setTimeout as sleep } from 'node:timers/promises'
import { wallClock } from '../api/messages.ts'
import { inSeconds, plural } from '../report/wording.ts'
import { row } from './fault-row.ts'
import { type Fault, underLoad } from './fault.ts'

const name = 'the holder of the lease is killed'
const graceMs = 250

export const holderKilled: Fault = {
  name,
  async run(stage) {
    const { leaseWhenKilledMs, extraQueryMs } = stage.plan.faults
    const killAfterMs = extraQueryMs / 4
    if (stage.redis === undefined) {
      return {
        name,
        expected: 'another process takes over',
        happened:
          'needs Redis: without it each process loads for itself, and nobody waits for another',
        outcome: 'not run',
      }
    }
    const { seen, fleet, answers } = await underLoad(
      stage,
      { name, use: 'holder-killed', leaseMs: leaseWhenKilledMs, processes: stage.plan.processes },
      async (running) => {
        const holder = await running.nextQuery()
        await sleep(killAfterMs)
        running.kill(holder.pid)
        return { pid: holder.pid, killedAt: wallClock() }
      },
    )
    const killed = fleet.members.find(({ pid }) => pid === seen.pid)
    const others = answers.filter(
      ({ port, endpoint }) => port !== killed?.port && endpoint === 'hot',
    )
    const failed = others.filter(({ error }) => error !== undefined).length
    const second = fleet.queries.find(({ pid }) => pid !== seen.pid)
    const loadMs = second?.endedAt === undefined ? Number.NaN : second.endedAt - second.beganAt
    const waiting = others.filter(({ intendedAt }) => intendedAt < seen.killedAt)
    const lastMs = Math.max(...waiting.map(({ intendedAt, ms }) => intendedAt + ms)) - seen.killedAt
    const boundMs = leaseWhenKilledMs + loadMs + graceMs
    return row(
      name,
      `2 queries in all; the other processes answer everyone within lease ${inSeconds(leaseWhenKilledMs)} ` +
        `+ one load + ${inSeconds(graceMs)}`,
      [
        { text: plural(fleet.queries.length, 'query', 'queries'), ok: fleet.queries.length === 2 },
        {
          text: `${failed} of ${others.length} callers of the other processes failed`,
          ok: failed === 0 && others.length > 0,
        },
        {
          text: `the last of ${waiting.length} who waited had it ${inSeconds(lastMs)} after the kill, allowed ${inSeconds(boundMs)}`,
          ok: lastMs <= boundMs,
        },
      ],
    )
  },
}
