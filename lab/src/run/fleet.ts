// The API processes of one contender: forked, told what to be, listened to. What they report is
// gathered here on one time line, the only place that sees all of them.

import type { ChildProcess } from 'node:child_process'
import { type ApiReport, type ApiSettings, wallClock } from '../api/messages.ts'
import { forkSession } from './fork-session.ts'

export interface QueryRun {
  readonly pid: number
  readonly beganAt: number
  /** Why breakwater loaded it, where the contender says. */
  readonly reason: string | undefined
  endedAt: number | undefined
}

export interface PoolSample {
  readonly pid: number
  readonly at: number
  readonly waiting: number
}

export interface Fleet {
  readonly members: readonly { readonly pid: number; readonly port: number }[]
  readonly queries: readonly QueryRun[]
  readonly pool: readonly PoolSample[]
  /** The next trending query that begins at the database. */
  nextQuery(): Promise<QueryRun>
  kill(pid: number): void
  stop(): Promise<void>
}

export async function startFleet(
  settings: ApiSettings,
  size: number,
  signal: AbortSignal,
): Promise<Fleet> {
  const queries: QueryRun[] = []
  const pool: PoolSample[] = []
  const open = new Map<string, QueryRun>()
  const watchers: ((query: QueryRun) => void)[] = []
  const children: ChildProcess[] = []

  const take = (pid: number, report: ApiReport): void => {
    switch (report.kind) {
      case 'query-began': {
        const query: QueryRun = {
          pid,
          beganAt: report.at,
          reason: report.reason,
          endedAt: undefined,
        }
        queries.push(query)
        open.set(`${pid}:${report.query}`, query)
        for (const tell of watchers.splice(0)) tell(query)
        return
      }
      case 'query-ended': {
        const query = open.get(`${pid}:${report.query}`)
        if (query !== undefined) query.endedAt = report.at
        return
      }
      case 'pool':
        pool.push({ pid, at: report.at, waiting: report.waiting })
        return
      case 'listening':
      case 'failed':
    }
  }

  const member = async (): Promise<{ pid: number; port: number }> => {
    const child = forkSession(new URL('../api/server.js', import.meta.url), signal)
    children.push(child)
    child.send(settings)
    const pid = child.pid ?? 0
    const port = await new Promise<number>((resolve, reject) => {
      child.on('message', (report: ApiReport) => {
        if (report.kind === 'listening') resolve(report.port)
        else if (report.kind === 'failed') reject(new Error(`an API process: ${report.reason}`))
        else take(pid, report)
      })
      child.once('error', reject)
      child.once('exit', (code, by) => {
        reject(new Error(`an API process ended with ${String(code ?? by)}`))
        // What it was running when it died ends for us here; the database may go on a little.
        for (const query of queries) if (query.pid === pid) query.endedAt ??= wallClock()
      })
    })
    return { pid, port }
  }

  const stop = async (): Promise<void> => {
    await Promise.all(
      children.map(async (child) => {
        if (child.exitCode !== null || child.signalCode !== null) return
        const gone = new Promise((done) => child.once('exit', done))
        child.kill('SIGKILL')
        await gone
      }),
    )
  }

  try {
    const members = await Promise.all(Array.from({ length: size }, member))
    return {
      members,
      queries,
      pool,
      nextQuery: () => new Promise((tell) => watchers.push(tell)),
      kill: (pid) => void children.find((child) => child.pid === pid)?.kill('SIGKILL'),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}
