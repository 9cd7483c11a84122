// Real processes on one Redis: each value is made once per period by one of them, also when the one
// that makes most is killed, and when Redis is killed and comes back empty. How soon callers are
// answered, and more processes for longer: `npm run bench -- ahead`.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { sleep } from '../support/open-session.ts'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'

const ids = Array.from({ length: 12 }, (_, n) => `k${n}`)
// Long enough that a busy machine loses no lease, a third of it.
const everyMs = 2_400

interface Load {
  readonly id: string
  readonly reason: string
  readonly at: number
  readonly by: number
}

const loads: Load[] = []
let server: RedisServer
let fleet: WorkerProcess[]
let alive: WorkerProcess[]

beforeAll(async () => {
  server = await startRedisServer()
  fleet = await Promise.all([0, 1, 2, 3].map(start))
  alive = fleet
})
afterAll(async () => {
  for (const worker of fleet) worker.signal('SIGKILL')
  await server.stop()
})

function start(by: number): Promise<WorkerProcess> {
  const { connection } = server
  const plan = { connection, every: everyMs, ttl: 3 * everyMs, ids, loadMs: 30 }
  return startWorker('ahead.mjs', plan, (told) => {
    if (told.type === 'loading') loads.push({ ...(told as unknown as Load), by })
  })
}

/** Asks everybody for everything, all the time. */
async function ask(ms: number, outcomes = new Map<string, number>()): Promise<Map<string, number>> {
  const until = Date.now() + ms
  while (Date.now() < until) {
    const answers = await Promise.all(alive.map((one) => one.call<string[]>('ask', { ids })))
    for (const outcome of answers.flat()) outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
    await sleep(50)
  }
  return outcomes
}

function since(from: number): (id: string) => readonly Load[] {
  return (id) => loads.filter((load) => load.id === id && load.at >= from)
}

it('each value is made once per period, by the background alone', async () => {
  await ask(everyMs * 1.5)
  const of = since(Date.now())
  const outcomes = await ask(everyMs * 4)
  expect(ids.filter((id) => of(id).length < 3 || of(id).length > 5)).toEqual([])
  expect(loads.every(({ reason }) => reason === 'scheduled')).toBe(true)
  expect([...outcomes.keys()]).toEqual(['hit'])
})

it('T079 T081 the process that makes most of them is killed: all are made again within two periods', async () => {
  const made = fleet.map((_, n) => loads.filter(({ by }) => by === n).length)
  const killed = fleet[made.indexOf(Math.max(...made))]!
  alive = fleet.filter((one) => one !== killed)
  const from = Date.now()
  await killed.kill()
  const outcomes = await ask(everyMs * 2.2)
  const of = since(from)
  const isLate = (first: Load | undefined): boolean => !(first && first.at - from < 2 * everyMs)
  expect(ids.filter((id) => isLate(of(id)[0]))).toEqual([])
  expect([...outcomes.keys()].filter((it) => it.startsWith('error'))).toEqual([])
})

it('T093 Redis is killed and comes back empty: no request loads, and all are soon there', async () => {
  await server.kill()
  const outcomes = await ask(everyMs / 2)
  const during = loads.length
  await server.restart()
  await ask(everyMs * 2, outcomes)
  expect(loads.every(({ reason }) => reason === 'scheduled')).toBe(true)
  const back = loads.slice(during)
  expect(ids.filter((id) => !back.some((load) => load.id === id))).toEqual([])
  expect([...outcomes.keys()].filter((it) => it.startsWith('error'))).toEqual([])
  // As before.
  const of = since(Date.now())
  await ask(everyMs * 2)
  expect(ids.filter((id) => of(id).length > 3)).toEqual([])
})
