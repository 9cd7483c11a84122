// The Redis of the queue, which is not the cache's here, and what becomes of reads, jobs and process
// while it is gone, frozen, emptied or back.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Queue } from 'bullmq'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openCache } from '../support/queue-caches.ts'
import { sleep } from '../support/open-session.ts'
import { ownServer } from '../support/own-server.ts'

const server = ownServer()
let queueServer: RedisServer
beforeAll(async () => {
  queueServer = await startRedisServer()
})
afterAll(async () => {
  await queueServer.stop()
})
beforeEach(async () => {
  await queueServer.restart()
  await server.admin.flushall()
})

const every = { every: '1s', onMiss: 'wait' } as const

function open(definition: object = {}) {
  const opened = openCache(server.port)
  const loads: number[] = []
  const item = opened.cache.define({
    name: 'item',
    load: () => loads.push(Date.now()),
    precompute: every,
    ...definition,
  })
  const { port } = queueServer
  return { ...opened, item, loads, jobs: opened.queue({ connection: { port } }) }
}

describe('while the Redis of the queue', () => {
  it('is gone, reads go on, lateness is told, and all comes back by itself', async () => {
    const { jobs, item, loads, told, cache } = open()
    await jobs.ready
    await expect.poll(() => item.peek()).toMatchObject({ state: 'fresh' })
    await queueServer.kill()
    await expect
      .poll(() => told.filter(({ event }) => event === 'alert').at(-1), { timeout: 5_000 })
      .toMatchObject({ kind: 'late', name: 'item' })
    expect(cache.health()).toMatchObject({ status: 'degraded', late: [{ name: 'item' }] })
    const before = loads.length
    expect(await item.get()).toBe(before)
    expect(
      told.some(({ event, operation }) => event === 'storeFailed' && operation === 'bullmq'),
    ).toBe(true)
    await queueServer.restart()
    await expect.poll(() => loads.length, { timeout: 6_000 }).toBeGreaterThan(before + 1)
    await expect.poll(() => cache.health().late).toEqual([])
  })

  it('is gone from the beginning, what is asked for is made all the same, and the cache can be closed', async () => {
    await queueServer.kill()
    const { jobs, item, cache } = open()
    expect(await item.get()).toBe(1)
    const begun = Date.now()
    await Promise.all([expect(jobs.ready).rejects.toMatchObject({ code: 'CLOSED' }), cache.close()])
    expect(Date.now() - begun).toBeLessThan(3_000)
  })

  it('is frozen, reads go on, and the cache can be closed', async () => {
    const { jobs, item, told, cache } = open()
    await jobs.ready
    await expect.poll(() => item.peek()).toMatchObject({ state: 'fresh' })
    queueServer.freeze()
    onTestFinished(() => queueServer.thaw())
    await expect
      .poll(() => told.filter(({ event }) => event === 'alert'), { timeout: 5_000 })
      .toMatchObject([{ kind: 'late' }])
    expect(await item.get()).toBeGreaterThan(0)
    const begun = Date.now()
    await cache.close({ timeout: 1_000 })
    await jobs.close()
    expect(Date.now() - begun).toBeLessThan(4_000)
  })

  it('is frozen and thaws, everything goes on', async () => {
    const { jobs, item, loads, cache } = open()
    await jobs.ready
    await expect.poll(() => item.peek()).toMatchObject({ state: 'fresh' })
    queueServer.freeze()
    await sleep(2_500)
    queueServer.thaw()
    const before = loads.length
    await expect.poll(() => loads.length, { timeout: 8_000 }).toBeGreaterThan(before + 2)
    await expect.poll(() => cache.health().late, { timeout: 3_000 }).toEqual([])
  })

  it('is emptied, the scheduler comes back', async () => {
    const { jobs, loads } = open()
    await jobs.ready
    await expect.poll(() => loads.length).toBeGreaterThan(0)
    await queueServer.ask('FLUSHALL')
    const before = loads.length
    await expect.poll(() => loads.length, { timeout: 6_000 }).toBeGreaterThan(before + 2)
    const queue = new Queue('refresh', {
      connection: { port: queueServer.port },
      prefix: '{breakwater:jobs}',
    })
    onTestFinished(() => queue.close())
    expect(await queue.getJobSchedulersCount()).toBe(1)
  })
})

describe('while the Redis of the cache is gone', () => {
  it('nothing is loaded again and again, and a worker still answers who asks it', async () => {
    const own = await startRedisServer()
    onTestFinished(() => own.stop())
    const { cache, queue } = openCache(own.port)
    let loads = 0
    const item = cache.define({ name: 'item', load: () => ++loads, precompute: every })
    await queue({ connection: { port: queueServer.port } }).ready
    await expect.poll(() => item.peek()).toMatchObject({ state: 'fresh' })
    await own.kill()
    const before = loads
    expect(await item.get()).toBeGreaterThan(0)
    await sleep(2_000)
    expect(loads - before).toBeLessThanOrEqual(2)
    await own.restart()
    await expect.poll(() => loads, { timeout: 8_000 }).toBeGreaterThan(before + 2)
    await expect.poll(() => own.ask('KEYS', 'bw:jobs:*:v'), { timeout: 3_000 }).toHaveLength(1)
  })
})
