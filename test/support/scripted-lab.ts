// A run of the lab as a script tells it, for its live page: processes that report what they are told
// to, under a load that is as bad as wanted, in no time. Redis is a real one, to be killed.

import {
  type ApiReport,
  type ContenderId,
  type ContenderRun,
  createLive,
  FleetRecord,
  type Fleet,
  type Live,
  type Servers,
} from '@breakwater/lab'
import type { RedisServer } from '@breakwater/rig'

export const contenders = ['plain', 'lock-poll', 'breakwater'] as const
export const faults = ['the holder of the lease is killed', 'a write <b>invalidates</b>'] as const

export interface ScriptedScene {
  readonly fleet: Fleet
  readonly killed: readonly number[]
  readonly ports: readonly number[]
  report(pid: number, report: ApiReport): void
  load(options: { sent: number; done: number; p95: number }): void
}

export function scriptedLab(redisServer: RedisServer, mode: 'run' | 'play' = 'run'): Live {
  // Away until the test lets it come back.
  const live = createLive(mode, { awayMs: 600_000, replacedAfterMs: 10 })
  const servers: Servers = {
    database: { kind: 'private', config: {} },
    redis: { kind: 'private', url: redisServer.url },
    redisServer,
    stop: async () => undefined,
  }
  live.controls.open(servers)
  live.record.planned({ setting: 'Four processes & one database.', contenders, faults })
  return live
}

export const now = (): number => performance.timeOrigin + performance.now()

export function beginScene(live: Live, contender: ContenderId, title: string): ScriptedScene {
  const record = new FleetRecord()
  const killed: number[] = []
  const ports: number[] = []
  const members = [1, 2, 3, 4].map((pid) => ({ pid, port: 9000 + pid }))
  for (const { pid } of members) record.take(pid, { kind: 'pool', at: now(), waiting: 0 })
  const fleet: Fleet = {
    members,
    queries: record.queries,
    pool: record.pool,
    record,
    nextQuery: () => record.nextQuery(),
    tell: () => undefined,
    kill(pid) {
      killed.push(pid)
      record.ended(pid)
    },
    async replace(pid) {
      const fresh = { pid: pid + 10, port: 9000 + pid + 10 }
      members[members.findIndex((one) => one.pid === pid)] = fresh
      record.take(fresh.pid, { kind: 'pool', at: now(), waiting: 0 })
      return fresh
    },
    stop: async () => undefined,
  }
  const startedAt = now()
  live.record.sceneBegan({
    kind: live.record.mode === 'play' ? 'play' : 'contender',
    title,
    contender,
    fleet,
    startedAt,
    queriesBefore: 0,
    durationMs: live.record.mode === 'play' ? undefined : 60_000,
    writeAtMs: 10_000,
    addPort: (port) => void ports.push(port),
  })
  let at = startedAt
  return {
    fleet,
    killed,
    ports,
    report: (pid, report) => record.take(pid, report),
    load({ sent, done, p95 }) {
      at += 500
      const endpoint = { sent, done, errors: sent - done, p95 }
      live.record.load({ kind: 'progress', at, endpoints: { hot: endpoint, unrelated: endpoint } })
    },
  }
}

/** The scene is over, with records that make figures. */
export function endContender(live: Live, contender: ContenderId, queries: number): void {
  live.record.sceneEnded()
  const startedAt = now()
  const run: ContenderRun = {
    contender,
    startedAt,
    cachedAt: undefined,
    loadingUntil: undefined,
    durationMs: 2000,
    timeoutMs: 1000,
    answers: Array.from({ length: 40 }, (_, n) => ({
      endpoint: n % 2 === 0 ? ('hot' as const) : ('unrelated' as const),
      port: 9001,
      intendedAt: startedAt + n * 50,
      ms: 5 * queries,
    })),
    queries: Array.from({ length: queries }, () => ({
      pid: 1,
      beganAt: startedAt + 300,
      endedAt: startedAt + 900,
      reason: undefined,
    })),
    pool: [],
    write: { beganAt: startedAt + 1000, endedAt: startedAt + 1010, revision: 2 },
  }
  live.record.contenderEnded(run, `${contender} has ended`)
}
