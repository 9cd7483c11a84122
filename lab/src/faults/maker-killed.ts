// The process that makes the value anew by schedule is SIGKILLed in mid-query. Nobody was waiting for
// it: the others must serve what is there, and one of them must make the value in its stead: mostly
// when the lease ends, at the latest in the next period (where the value had been made out of turn).

import { setTimeout as sleep } from 'node:timers/promises'
import { wallClock } from '../api/messages.ts'
import { inSeconds } from '../report/wording.ts'
import { row } from './fault-row.ts'
import { type Fault, underLoad } from './fault.ts'

const name = 'the maker of a scheduled value is killed'
const graceMs = 250

export const makerKilled: Fault = {
  name,
  async run(stage) {
    const { ttlMs: everyMs } = stage.plan
    if (stage.redis === undefined) {
      return {
        name,
        expected: 'another process makes it',
        happened: 'needs Redis: without it each process makes its own',
        outcome: 'not run',
      }
    }
    const { seen, fleet, answers } = await underLoad(
      stage,
      { name, use: 'maker-killed', processes: 2, madeEveryMs: everyMs },
      async (running) => {
        const maker = await running.nextQuery()
        await sleep(stage.shop.queryMs / 4)
        running.kill(maker.pid)
        const killedAt = wallClock()
        const second = await running.nextQuery()
        while (second.endedAt === undefined) await sleep(10)
        return { maker, killedAt, second, endedAt: second.endedAt }
      },
    )
    const { maker, killedAt, second, endedAt } = seen
    const killed = fleet.members.find(({ pid }) => pid === maker.pid)
    const others = answers.filter(
      ({ port, endpoint }) => port !== killed?.port && endpoint === 'hot',
    )
    const failed = others.filter(({ error }) => error !== undefined).length
    const meanwhile = others.filter(
      ({ intendedAt }) => intendedAt > killedAt && intendedAt < endedAt,
    )
    const slowestMs = Math.max(...meanwhile.map(({ ms }) => ms))
    const tookMs = second.beganAt - killedAt
    // A period, and what the others leave to whoever has made it last (a tenth and a quarter of it).
    const boundMs = everyMs * 1.35 + graceMs
    const unscheduled = fleet.queries.filter(({ reason }) => reason !== 'scheduled').length
    return row(
      name,
      'another process makes it, in the next period at the latest; nobody waits for a query meanwhile',
      [
        {
          text: `another began ${inSeconds(tookMs)} after the kill, allowed ${inSeconds(boundMs)}`,
          ok: tookMs <= boundMs && second.pid !== maker.pid,
        },
        {
          text: `${failed} of ${others.length} callers of the other process failed`,
          ok: failed === 0 && others.length > 0,
        },
        {
          text: `the slowest of ${meanwhile.length} who came meanwhile took ${inSeconds(slowestMs)}, a query ${inSeconds(endedAt - second.beganAt)}`,
          ok: meanwhile.length > 0 && slowestMs < endedAt - second.beganAt,
        },
        { text: `${unscheduled} queries by a request`, ok: unscheduled === 0 },
      ],
    )
  },
}
