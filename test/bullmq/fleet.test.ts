// Real processes on one real Redis: how often is each key loaded, whoever plans, works and dies?

import { startRedisServer } from '@breakwater/rig'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { shareOf } from '../../src/core/schedule.ts'
import { sleep } from '../support/open-session.ts'
import { ownServer } from '../support/own-server.ts'
import { loadsOf, startProcesses, stopProcesses, type Load } from '../support/queue-fleet.ts'

const server = ownServer()
afterEach(async () => {
  await stopProcesses()
  await server.admin.flushall()
})

const everyMs = 1_000
const args = Array.from({ length: 12 }, (_, n) => `k${n}`)
const precompute = { every: everyMs, args, onMiss: 'wait' }
const jobs = { worker: { stalledAfter: '1s' } }

/** Which of the key's own periods a load was for. By the host's clock it may be a little before. */
function periodOf(arg: string, { at }: Load): number {
  return Math.floor((at + 100 - shareOf(`r:item:${arg}`) * everyMs) / everyMs)
}

function queueOf(port: number, prefix = '{breakwater:fleet}'): Queue {
  const queue = new Queue('refresh', { connection: { port }, prefix })
  onTestFinished(() => queue.close())
  return queue
}

describe('a fleet with BullMQ', () => {
  it('loads each key once per period, in one of all processes', async () => {
    const { port } = server
    await startProcesses(3, { port, definition: { precompute }, jobs })
    await sleep(5 * everyMs)
    const pids = new Set<number>()
    for (const arg of args) {
      const loads = await loadsOf(server.admin, arg)
      const periods = loads.map((load) => periodOf(arg, load))
      expect([arg, periods]).toEqual([arg, [...new Set(periods)]])
      // None is left out, either: the first may be of the period before its turn.
      expect(periods.at(-1)! - periods[0]!).toBeLessThanOrEqual(periods.length)
      expect(loads.length).toBeGreaterThanOrEqual(4)
      for (const { pid, reason } of loads) {
        pids.add(pid)
        expect(reason).toBe('scheduled')
      }
    }
    expect(pids.size).toBeGreaterThan(1)
  })

  it('plans once per period, however many processes have the definition', async () => {
    const { port } = server
    const queue = queueOf(port)
    await startProcesses(3, {
      port,
      definition: { precompute },
      jobs: { ...jobs, keepCompleted: 10_000 },
    })
    await sleep(3 * everyMs)
    expect(await queue.getJobSchedulersCount()).toBe(1)
    const done = await queue.getCompleted(0, 10_000)
    const slots = done.filter(({ repeatJobKey }) => repeatJobKey !== undefined).map(({ id }) => id)
    expect(slots.length).toBeGreaterThanOrEqual(2)
    expect(slots.length).toBeLessThanOrEqual(4)
  })

  it('a key whose worker is killed in the middle of its load is loaded by another within two periods', async () => {
    const { port } = server
    const options = {
      port,
      definition: { precompute: { ...precompute, every: 2_000, args: ['k'] } },
      jobs,
    }
    const [one, two] = await startProcesses(2, { ...options, loader: { ms: 300 } })
    const [first] = await Promise.race(
      [one!, two!].map(
        (process) =>
          new Promise<[typeof process]>((resolve) => {
            process.onLoading = () => resolve([process])
            if (process.loads.length > 0) resolve([process])
          }),
      ),
    )
    await first.kill()
    const killedAt = Date.now()
    const other = first === one ? two! : one!
    await expect
      .poll(() => other.call('peek', { arg: 'k' }), { timeout: 4_000 })
      .toMatchObject({ state: 'fresh' })
    expect(Date.now() - killedAt).toBeLessThan(4_000)
  })

  it('goes on by itself after its Redis was killed and has come back empty', async () => {
    const own = await startRedisServer()
    onTestFinished(async () => {
      await stopProcesses()
      await own.stop()
    })
    const processes = await startProcesses(2, { port: own.port, definition: { precompute }, jobs })
    await sleep(1_500)
    await own.kill()
    await sleep(1_000)
    await own.restart()
    const admin = new Redis({ port: own.port })
    onTestFinished(() => admin.disconnect())
    const loaded = async () => {
      const all = await Promise.all(args.map((arg) => loadsOf(admin, arg)))
      return Math.min(...all.map((loads) => loads.length))
    }
    await expect.poll(loaded, { timeout: 10_000 }).toBeGreaterThanOrEqual(2)
    const late = () => Promise.all(processes.map((one) => one.call<{ late: [] }>('health')))
    await expect
      .poll(async () => (await late()).flatMap((health) => health.late), { timeout: 5_000 })
      .toEqual([])
  })
})
