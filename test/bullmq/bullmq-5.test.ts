// The same on BullMQ 5: schedule, retries, asks, an outage of the queue, the end.

import { startRedisServer } from '@breakwater/rig'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openCache } from '../support/queue-caches.ts'
import { sleep } from '../support/open-session.ts'
import { ownServer } from '../support/own-server.ts'

vi.mock('bullmq', () => import('bullmq5'))

const server = ownServer()
beforeEach(() => server.admin.flushall())

describe('with BullMQ 5', () => {
  it('is what is tested here', async () => {
    const { Queue } = await import('bullmq')
    const five = await import('bullmq5')
    expect(Queue).toBe(five.Queue)
  })

  it('a key is loaded once per period, by one of two', async () => {
    const loads: string[] = []
    const open = (who: string) => {
      const { cache, queue } = openCache(server.port)
      cache.define({
        name: 'item',
        load: () => loads.push(who),
        precompute: { every: '1s', onMiss: 'wait' },
      })
      return queue()
    }
    await Promise.all([open('one').ready, open('two').ready])
    await sleep(4_500)
    expect(loads.length).toBeGreaterThanOrEqual(4)
    expect(loads.length).toBeLessThanOrEqual(6)
  })

  it('a refresh that fails is tried again until it succeeds', async () => {
    const { cache, queue } = openCache(server.port)
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: () => {
        if (++loads < 4) throw new Error('the source said no')
        return 'made'
      },
      errorBackoff: 50,
      precompute: { every: '2s', onMiss: 'wait' },
    })
    await queue().ready
    await expect.poll(() => item.peek(), { timeout: 4_000 }).toMatchObject({ value: 'made' })
    expect(loads).toBe(4)
  })

  it('a miss in a process that does not load is made by one that does', async () => {
    const web = openCache(server.port)
    const worker = openCache(server.port)
    const define = ({ cache }: typeof web) =>
      cache.define({
        name: 'item',
        load: (at: Date) => at.getTime(),
        precompute: { every: '1m', args: [], onMiss: 'wait' },
      })
    const item = define(web)
    define(worker)
    await Promise.all([web.queue({ worker: false }).ready, worker.queue().ready])
    expect(await item.get(new Date(5))).toBe(5)
  })

  it('the Redis of the queue may go and come back', async () => {
    const own = await startRedisServer()
    onTestFinished(() => own.stop())
    const { cache, queue } = openCache(server.port)
    let loads = 0
    cache.define({ name: 'item', load: () => ++loads, precompute: { every: '1s', onMiss: 'wait' } })
    await queue({ connection: { port: own.port } }).ready
    await own.kill()
    await sleep(1_500)
    await own.restart()
    const before = loads
    await expect.poll(() => loads, { timeout: 8_000 }).toBeGreaterThan(before + 2)
  })

  it('the end is bounded, with the Redis of the queue there, gone or frozen', async () => {
    for (const state of ['there', 'gone', 'frozen'] as const) {
      const own = await startRedisServer()
      const { cache, queue } = openCache(server.port)
      cache.define({ name: 'item', load: () => 1, precompute: { every: '1s', onMiss: 'wait' } })
      const jobs = queue({ connection: { port: own.port } })
      await jobs.ready
      if (state === 'gone') await own.kill()
      if (state === 'frozen') own.freeze()
      const begun = Date.now()
      await cache.close()
      expect(Date.now() - begun).toBeLessThan(3_000)
      own.thaw()
      await own.stop()
    }
  })
})
