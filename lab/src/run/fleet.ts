// The API processes of one contender: forked, told what to be, listened to, killed, and where a
// button killed one, replaced.

import type { ChildProcess } from 'node:child_process'
import type { ApiCommand, ApiReport, ApiSettings } from '../api/messages.ts'
import { FleetRecord, type PoolSample, type QueryRun } from './fleet-record.ts'
import { forkSession } from './fork-session.ts'

export interface Member {
  readonly pid: number
  readonly port: number
}

export interface Fleet {
  /** In the order of their numbers; who was killed stays until another takes its place. */
  readonly members: readonly Member[]
  readonly queries: readonly QueryRun[]
  readonly pool: readonly PoolSample[]
  readonly record: FleetRecord
  /** The next trending query that begins at the database. */
  nextQuery(): Promise<QueryRun>
  tell(command: ApiCommand): void
  kill(pid: number): void
  /** Another process in the place of one that was killed; undefined when the fleet was stopped. */
  replace(pid: number): Promise<Member | undefined>
  stop(): Promise<void>
}

export async function startFleet(
  settings: ApiSettings,
  size: number,
  signal: AbortSignal,
): Promise<Fleet> {
  const record = new FleetRecord()
  const children: ChildProcess[] = []
  let isStopped = false
  let current: ApiCommand | undefined

  const member = async (): Promise<Member> => {
    const child = forkSession(new URL('../api/server.js', import.meta.url), signal)
    children.push(child)
    tellOne(child, { kind: 'start', settings })
    const pid = child.pid ?? 0
    const port = await new Promise<number>((resolve, reject) => {
      child.on('message', (report: ApiReport) => {
        if (report.kind === 'listening') resolve(report.port)
        else if (report.kind === 'failed') reject(new Error(`an API process: ${report.reason}`))
        else record.take(pid, report)
      })
      child.once('error', reject)
      child.once('exit', (code, by) => {
        reject(new Error(`an API process ended with ${String(code ?? by)}`))
        record.ended(pid)
      })
    })
    if (current !== undefined) tellOne(child, current)
    return { pid, port }
  }

  const stop = async (): Promise<void> => {
    isStopped = true
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
      queries: record.queries,
      pool: record.pool,
      record,
      nextQuery: () => record.nextQuery(),
      tell(command) {
        current = command
        for (const child of children) tellOne(child, command)
      },
      kill: (pid) => void children.find((child) => child.pid === pid)?.kill('SIGKILL'),
      async replace(pid) {
        const at = members.findIndex((one) => one.pid === pid)
        if (isStopped || at < 0) return undefined
        const fresh = await member().catch(() => undefined) // stopped, or Redis is away just now
        if (fresh !== undefined) members[at] = fresh
        return fresh
      },
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

function tellOne(child: ChildProcess, command: ApiCommand): void {
  if (child.connected) child.send(command, () => undefined)
}
