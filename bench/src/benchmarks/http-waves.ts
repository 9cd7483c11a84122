// A thousand visitors of one URL at once, over four processes: how long until the last of them is
// answered, beside the application without a cache in the same processes, and how often it runs.

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startRedisServer } from '@breakwater/rig'
import { Agent, request } from 'undici'
import { nextReply } from '../child/reply.ts'
import type { FromApp, Plan } from '../http/messages.ts'
import type { Report, Row, Setting } from '../measure/report.ts'
import { median, spread } from '../measure/statistics.ts'

const processes = 4
const visitors = 1_000
const loadMs = 1_000
const worker = fileURLToPath(new URL('../http/worker.js', import.meta.url))

type Where = 'direct' | 'behind'

interface App {
  readonly child: ChildProcess
  readonly ports: Readonly<Record<Where, number>>
}

interface Wave {
  readonly ms: number
  readonly runs: number
}

const waves = [
  'direct',
  'shared, cold',
  'shared, kept',
  'private, first',
  'private, second',
] as const
type Name = (typeof waves)[number]

export async function httpWaves({ quick, runs = quick ? 3 : 9, say }: Setting): Promise<Report> {
  const redis = await startRedisServer()
  const agent = new Agent({ connections: visitors / processes })
  const apps: App[] = []
  const took = new Map<Name, Wave[]>(waves.map((name) => [name, []]))
  try {
    for (let n = 0; n < processes; n += 1) apps.push(await start({ url: redis.url, loadMs }))
    const wave = async (name: Name, where: Where, path: string): Promise<void> => {
      const from = performance.now()
      await Promise.all(
        Array.from({ length: visitors }, async (_, n) => {
          const { ports } = apps[n % processes]!
          const { body } = await request(`http://127.0.0.1:${ports[where]}${path}`, {
            dispatcher: agent,
            headers: { host: 'shop.test', 'x-visitor': `v${n}` },
          })
          const text = await body.text()
          if (text !== (path.startsWith('/private') ? `for v${n}` : 'page')) {
            throw new Error(`visitor ${n} of ${path} got ${text}`)
          }
        }),
      )
      const ms = performance.now() - from
      took.get(name)!.push({ ms, runs: await runsOf(apps) })
    }
    // Connections are made, and code is compiled.
    await wave('direct', 'direct', '/warm')
    await wave('direct', 'behind', '/warm')
    for (const list of took.values()) list.length = 0
    for (let run = 0; run < runs; run += 1) {
      say(`round ${run + 1} of ${runs}`)
      await wave('direct', 'direct', `/private?${run}`)
      await wave('shared, cold', 'behind', `/shared?${run}`)
      await wave('shared, kept', 'behind', `/shared?${run}`)
      await wave('private, first', 'behind', `/private?${run}`)
      await wave('private, second', 'behind', `/private?${run}`)
    }
  } finally {
    for (const { child } of apps) child.kill('SIGKILL')
    await agent.destroy()
    await redis.stop()
  }
  const ratios = (name: Name): number[] =>
    took.get(name)!.map(({ ms }, n) => ms / took.get('direct')![n]!.ms)
  const bound = (name: Name, most: number) => {
    const measured = median(ratios(name))
    return {
      what: `${name} wave: until the last is answered, against direct`,
      budget: `≤ ${most}`,
      measured: measured.toFixed(2),
      met: measured <= most,
      must: true,
    }
  }
  const loads = Math.max(...took.get('shared, cold')!.map((one) => one.runs))
  return {
    tables: [
      {
        id: 'waves',
        title: `${visitors} visitors of one URL at once, ${processes} processes, an application that takes ${loadMs} ms, ${runs} rounds`,
        columns: [
          { name: 'ms', unit: 'ms' },
          { name: 'of direct', unit: 'ratio' },
          { name: 'runs of the application', unit: 'count' },
        ],
        rows: waves.map((name): Row => {
          const list = took.get(name)!
          return {
            name,
            figures: [
              spread(list.map(({ ms }) => ms)),
              spread(ratios(name)),
              spread(list.map((one) => one.runs)),
            ],
          }
        }),
      },
    ],
    budgets: [
      bound('private, first', 2.2),
      bound('private, second', 1.5),
      {
        what: 'cold: runs of the application',
        budget: '1',
        measured: String(loads),
        met: loads === 1,
        must: true,
      },
    ],
    notes: ['Each private answer was compared with its visitor’s own; a wrong one ends the run.'],
  }
}

async function start(plan: Plan): Promise<App> {
  const child = fork(worker, [JSON.stringify(plan)], { stdio: ['ignore', 2, 2, 'ipc'] })
  const ready = await nextReply<FromApp>(child, { limitMs: 30_000, order: 'start' })
  if (ready.kind !== 'ready') throw new Error(`expected an application, got ${ready.kind}`)
  return { child, ports: ready }
}

async function runsOf(apps: readonly App[]): Promise<number> {
  const told = await Promise.all(
    apps.map(({ child }) => {
      const reply = nextReply<FromApp>(child, { limitMs: 30_000, order: 'runs' })
      child.send('runs')
      return reply
    }),
  )
  return told.reduce((sum, one) => sum + (one.kind === 'runs' ? one.runs : 0), 0)
}
