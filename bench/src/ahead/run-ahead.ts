// The processes under one scenario, from before its beginning to after its end, and what it came to.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { fork, type ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { now } from '../fleet/messages.ts'
import { percentile } from '../measure/statistics.ts'
import { downMs, keys, loadMs, periodMs, processes } from './plan.ts'
import type { Answer, Load, Scenario, Told } from './plan.ts'

const worker = fileURLToPath(new URL('./worker.js', import.meta.url))
/** Until their starting is over, which ten processes on few cores feel. */
const settleMs = 4_000
const afterMs = 6_000

type Made = Load & { readonly by: number }

interface Log {
  readonly loads: Made[]
  readonly answers: Answer[]
}

export interface AheadFigures {
  /** Loads of one key in the whole time, at least and at most, per period. */
  readonly leastPerPeriod: number
  readonly mostPerPeriod: number
  readonly byRequests: number
  /** Longest time from one load of a key to its next, in periods. */
  readonly longestGap: number
  /** Pairs of loads of one key within half a period, the first of which was not cut off. */
  readonly twice: number
  /** Loads of one key by one process in one period, at most, in the second that Redis was away and the next. */
  readonly mostPerProcess: number
  readonly p99: number
  /** While Redis was away, and for a second after. */
  readonly p99Outage: number
  readonly errors: number
}

export async function runAhead(scenario: Scenario, steadyMs: number): Promise<AheadFigures> {
  const server = await startRedisServer()
  const log: Log = { loads: [], answers: [] }
  const children = Array.from({ length: processes }, () =>
    fork(worker, [String(server.port)], { stdio: ['ignore', 2, 2, 'ipc'] }),
  )
  try {
    await Promise.all(children.map((child, by) => ready(child, by, log)))
    await sleep(settleMs)
    const from = now()
    const what = await happen(scenario, { server, children, log, steadyMs })
    return figuresOf(log, { from, to: now() - loadMs, ...what })
  } finally {
    for (const child of children) child.kill('SIGKILL')
    await server.stop()
  }
}

function ready(child: ChildProcess, by: number, log: Log): Promise<void> {
  return new Promise((resolve, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`a process ended (${code ?? signal})`)))
    child.on('message', (told: Told) => {
      if (told.kind === 'ready') resolve()
      else if (told.kind === 'load') log.loads.push({ ...told.load, by })
      else log.answers.push(...told.answers)
    })
  })
}

interface Happened {
  readonly killed?: { readonly by: number; readonly at: number }
  readonly outage?: { readonly from: number; readonly to: number }
}

async function happen(
  scenario: Scenario,
  on: {
    readonly server: RedisServer
    readonly children: readonly ChildProcess[]
    readonly log: Log
    readonly steadyMs: number
  },
): Promise<Happened> {
  const { server, children, log, steadyMs } = on
  switch (scenario) {
    case 'steady':
      await sleep(steadyMs)
      return {}
    case 'one process killed': {
      await sleep(2 * periodMs)
      // The one that makes most of them.
      const share = children.map((_, n) => log.loads.filter(({ by }) => by === n).length)
      const by = share.indexOf(Math.max(...share))
      children[by]!.kill('SIGKILL')
      const killed = { by, at: now() }
      await sleep(afterMs)
      return { killed }
    }
    case 'Redis restarted': {
      await sleep(2 * periodMs)
      await server.kill()
      const from = now()
      await sleep(downMs)
      await server.restart()
      const outage = { from, to: now() }
      await sleep(afterMs)
      return { outage }
    }
  }
}

function figuresOf(
  { loads: all, answers }: Log,
  { from, to, killed, outage }: { readonly from: number; readonly to: number } & Happened,
): AheadFigures {
  const loads = all.filter(({ at }) => at >= from && at < to)
  const periods = (to - from) / periodMs
  const perKey = keys.map((key) => loads.filter((load) => load.key === key))
  const isCut = ({ by, at }: Made): boolean => killed?.by === by && at > killed.at - loadMs * 2
  const isIn = ({ at }: { readonly at: number }): boolean =>
    outage !== undefined && at >= outage.from && at < outage.to + periodMs
  const gaps = perKey.flatMap((own) =>
    own.slice(1).map((load, n) => ({ before: own[n]!, ms: load.at - own[n]!.at })),
  )
  const asked = answers.filter(({ at }) => at >= from)
  const of = (some: readonly Answer[]): number => percentile(some.map(({ ms }) => ms), 99) // prettier-ignore
  return {
    leastPerPeriod: Math.min(...perKey.map(({ length }) => length)) / periods,
    mostPerPeriod: Math.max(...perKey.map(({ length }) => length)) / periods,
    byRequests: loads.filter(({ reason }) => reason !== 'scheduled').length,
    longestGap: Math.max(...gaps.map(({ ms }) => ms)) / periodMs,
    twice: gaps.filter(({ before, ms }) => ms < periodMs / 2 && !isCut(before) && !isIn(before))
      .length,
    mostPerProcess: mostIn(loads.filter(isIn)),
    p99: of(asked.filter((answer) => !isIn(answer))),
    p99Outage: of(asked.filter(isIn)),
    errors: asked.filter(({ outcome }) => outcome.startsWith('error')).length,
  }
}

/** Of one key by one process within any one period. */
function mostIn(loads: readonly Made[]): number {
  return Math.max(
    0,
    ...loads.map((first) => {
      const same = loads.filter(({ by, key }) => by === first.by && key === first.key)
      return same.filter(({ at }) => at >= first.at && at < first.at + periodMs / 2).length
    }),
  )
}
