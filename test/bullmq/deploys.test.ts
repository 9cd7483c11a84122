// Two versions of an application beside each other, and one that has gone.

import { Queue } from 'bullmq'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openCache } from '../support/queue-caches.ts'
import { sleep } from '../support/open-session.ts'
import { ownServer } from '../support/own-server.ts'

const server = ownServer()
beforeEach(() => server.admin.flushall())

function queueOf(): Queue {
  const queue = new Queue('refresh', {
    connection: { port: server.port },
    prefix: '{breakwater:jobs}',
  })
  onTestFinished(() => queue.close())
  return queue
}

function deploy(name: string, precompute: { every: string }, version?: string) {
  const { cache, queue, told } = openCache(server.port)
  const loads: number[] = []
  cache.define({
    name,
    version,
    load: () => loads.push(Date.now()),
    precompute: { ...precompute, onMiss: 'wait' } as never,
  })
  const jobs = queue()
  return { cache, jobs, loads, told }
}

/** At least four loads come, and no more than one in each period. */
async function oncePerPeriod(loads: () => number): Promise<void> {
  const began = Date.now()
  await expect.poll(loads, { timeout: 15_000 }).toBeGreaterThanOrEqual(4)
  // The period that has begun, the one before `began`, and the first value, whenever it came.
  expect(loads()).toBeLessThanOrEqual((Date.now() - began) / 1_000 + 2)
}

describe('two versions of a deploy', () => {
  it('have a scheduler each, and the one that nobody knows any more goes', async () => {
    const before = deploy('item', { every: '2s' })
    await before.jobs.ready
    const after = deploy('item', { every: '1s' })
    await after.jobs.ready
    const queue = queueOf()
    expect(await queue.getJobSchedulersCount()).toBe(2)
    // Neither takes the other's away while both are there.
    await sleep(6_000)
    expect(await queue.getJobSchedulersCount()).toBe(2)
    await before.cache.close()
    await expect.poll(() => queue.getJobSchedulersCount(), { timeout: 15_000 }).toBe(1)
    const [left] = await queue.getJobSchedulers()
    expect(left).toMatchObject({ pattern: 'every 1000 ms' })
    const n = after.loads.length
    await expect.poll(() => after.loads.length, { timeout: 3_000 }).toBeGreaterThan(n + 1)
    expect(after.told.filter(({ event }) => event === 'alert')).toEqual([])
  }, 40_000)

  it('of which one has another version of the definition, each make their own', async () => {
    const one = deploy('item', { every: '1s' }, '1')
    const two = deploy('item', { every: '1s' }, '2')
    await Promise.all([one.jobs.ready, two.jobs.ready])
    await Promise.all([one, two].map(({ loads }) => oncePerPeriod(() => loads.length)))
  })

  it('of which one does not know a definition, leave its jobs to the other', async () => {
    const knows = deploy('item', { every: '1s' })
    const others = [deploy('other', { every: '1m' }), deploy('another', { every: '1m' })]
    await Promise.all([knows, ...others].map(({ jobs }) => jobs.ready))
    await oncePerPeriod(() => knows.loads.length)
  })

  it('of one schedule load once per period together', async () => {
    const all = [deploy('item', { every: '1s' }), deploy('item', { every: '1s' })]
    await Promise.all(all.map(({ jobs }) => jobs.ready))
    await oncePerPeriod(() => all.flatMap((one) => one.loads).length)
  })

  it('of which one leaves it to the built-in schedule load once per period together', async () => {
    const jobs = deploy('item', { every: '1s' })
    await jobs.jobs.ready
    const { cache } = openCache(server.port, { precompute: true })
    let loads = 0
    cache.define({
      name: 'item',
      load: () => ++loads,
      precompute: { every: '1s', onMiss: 'wait' },
    })
    await oncePerPeriod(() => loads + jobs.loads.length)
  })
})
