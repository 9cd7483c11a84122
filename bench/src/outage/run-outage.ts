// One outage from before its beginning to after its end, and what it came to.

import { startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from '@breakwater/rig'
import { setTimeout as sleep } from 'node:timers/promises'
import { now } from '../fleet/messages.ts'
import { withCrew } from './crew.ts'
import { figuresOf, type OutageFigures } from './figures.ts'
import type { Fault, OutageClient, Situation } from './plan.ts'

export interface OutagePlan {
  readonly client: OutageClient
  readonly situation: Situation
  readonly fault: Fault
  /** Of all processes together. */
  readonly perSecond: number
  readonly outageMs: number
  readonly processes: number
}

const beforeMs = 1_500
/** What is judged after its end are the first 2 s and then another 3. */
const afterMs = 5_500
const leadMs = 200

export async function runOutage(plan: OutagePlan): Promise<OutageFigures> {
  const server = await startRedisServer()
  const address = { host: '127.0.0.1', port: server.port }
  const proxy = await startTcpProxy(address)
  const isLate = plan.fault === 'started late'
  try {
    if (isLate) await server.kill()
    const behindProxy = plan.fault === 'refused' || plan.fault === 'black-holed'
    const { port } = behindProxy ? proxy.connection : address
    const { client, situation } = plan
    const crewPlan = { client, situation, port, perSecond: plan.perSecond / plan.processes }
    return await withCrew(crewPlan, async (crew) => {
      if (!isLate) await crew.warm()
      const at = now() + leadMs
      const dueAt = isLate ? at : at + beforeMs
      const telling = crew.go(at, dueAt + plan.outageMs + afterMs)
      // Until it is awaited below, its failure is not unhandled.
      telling.catch(() => {})
      const { begin, end } = doing(plan.fault, server, proxy)
      await sleep(dueAt - now())
      const beganAt = isLate ? at : now()
      await begin()
      await sleep(dueAt + plan.outageMs - now())
      await end()
      const endedAt = now()
      return figuresOf(await telling, { ...plan, beganAt, endedAt })
    })
  } finally {
    await proxy.close()
    await server.stop()
  }
}

interface Doing {
  begin(): unknown
  end(): unknown
}

function doing(fault: Fault, server: RedisServer, proxy: TcpProxy): Doing {
  switch (fault) {
    case 'frozen':
      return { begin: () => server.freeze(), end: () => server.thaw() }
    case 'killed':
      return { begin: () => server.kill(), end: () => server.restart() }
    case 'started late':
      return { begin: () => {}, end: () => server.restart() }
    case 'refused':
      return { begin: () => proxy.refuse(true), end: () => proxy.refuse(false) }
    case 'black-holed':
      return {
        // What stands is dead for good, and nothing comes of what is new until it ends.
        begin: () => {
          proxy.blackhole(true)
          proxy.severSilently()
        },
        end: () => proxy.blackhole(false),
      }
  }
}
