// What was tried to break it: ends at bad moments, jobs from strangers, lists that fail, big lists.

import { startRedisServer } from '@breakwater/rig'
import { Queue } from 'bullmq'
import { Redis } from 'ioredis'
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { openCache } from '../support/queue-caches.ts'
import { sleep } from '../support/open-session.ts'
import { ownServer } from '../support/own-server.ts'
import { loadsOf, startProcesses, stopProcesses } from '../support/queue-fleet.ts'

const server = ownServer()
beforeEach(() => server.admin.flushall())

function queueOf(port = server.port, namespace = 'jobs'): Queue {
  const queue = new Queue('refresh', { connection: { port }, prefix: `{breakwater:${namespace}}` })
  queue.on('error', () => {})
  onTestFinished(() => queue.close())
  return queue
}

describe('the end', () => {
  it('of a process leaves nothing that keeps it alive, and gives back what it had begun', async () => {
    const precompute = { every: 2_000, args: ['a', 'b', 'c'], onMiss: 'wait' }
    const { port } = server
    const [one] = await startProcesses(1, { port, definition: { precompute }, loader: { ms: 300 } })
    await expect.poll(() => one!.loads.length).toBeGreaterThan(0)
    const begun = Date.now()
    expect(await one!.stop()).toBe(0)
    expect(Date.now() - begun).toBeLessThan(4_000)
    await stopProcesses()
    expect(await queueOf(port, 'fleet').getActiveCount()).toBe(0)
  })

  it('lets a load under way end, and publishes it', async () => {
    const { cache, queue } = openCache(server.port)
    let begun = 0
    let ended = 0
    cache.define({
      name: 'item',
      load: async () => {
        begun++
        await sleep(400)
        return ++ended
      },
      precompute: { every: '1m', onMiss: 'wait' },
    })
    await queue().ready
    await expect.poll(() => begun).toBe(1)
    await cache.close()
    expect(ended).toBe(1)
    expect(await server.admin.keys('bw:jobs:*:v')).toHaveLength(1)
    expect(await queueOf().getActiveCount()).toBe(0)
  })

  it.each(['gone', 'frozen'])(
    'is bounded with a load under way that never settles, and a queue that is %s',
    async (state) => {
      const own = await startRedisServer()
      onTestFinished(() => own.stop())
      const { cache, queue } = openCache(server.port)
      let begun = 0
      cache.define({
        name: 'item',
        load: () => {
          begun++
          return new Promise(() => {})
        },
        precompute: { every: '1m', onMiss: 'wait' },
      })
      const jobs = queue({ connection: { port: own.port } })
      await jobs.ready
      await expect.poll(() => begun).toBe(1)
      if (state === 'gone') await own.kill()
      else own.freeze()
      const closing = Date.now()
      await cache.close({ timeout: 500 })
      await jobs.close()
      expect(Date.now() - closing).toBeLessThan(3_500)
      own.thaw()
      await sleep(300)
    },
  )

  it('of the queue alone leaves the cache as it is, and a client to its owner', async () => {
    const { cache, queue } = openCache(server.port)
    const client = new Redis({ port: server.port, maxRetriesPerRequest: null })
    onTestFinished(() => client.disconnect())
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: () => ++loads,
      precompute: { every: '1s', onMiss: 'load' },
    })
    const jobs = queue({ connection: client })
    await jobs.ready
    await expect.poll(() => loads).toBeGreaterThan(0)
    await jobs.close()
    const before = loads
    expect(await client.ping()).toBe('PONG')
    await sleep(2_000)
    expect(loads).toBe(before)
    expect(await item.get()).toBe(before)
    await item.invalidate()
    expect(await item.get()).toBe(before + 1)
    const names = String(await server.admin.client('LIST')).match(/name=\S*bull\S*/g) ?? []
    expect(names.length).toBeLessThanOrEqual(1)
  })

  it('before the beginning is no trouble', async () => {
    const { cache, queue } = openCache(server.port)
    cache.define({ name: 'item', load: () => 1, precompute: { every: '1s', onMiss: 'wait' } })
    const jobs = queue()
    const ready = jobs.ready
    await Promise.all([jobs.close(), cache.close(), jobs.close()])
    await expect(ready).rejects.toMatchObject({ code: 'CLOSED' })
    await expect(jobs.ready).rejects.toMatchObject({ code: 'CLOSED' })
  })
})

describe('jobs', () => {
  it('of strangers, and such as cannot be read, harm nobody', async () => {
    const { cache, queue } = openCache(server.port)
    const got: unknown[] = []
    const item = cache.define({
      name: 'item',
      load: (id: string) => {
        got.push(id)
        return id
      },
      precompute: { every: '1m', args: ['a'], onMiss: 'wait' },
    })
    await queue().ready
    expect(await item.get('a')).toBe('a')
    const foreign = queueOf()
    const until = Date.now() + 60_000
    const arg = Buffer.from([0xc1, 0xff]).toString('base64')
    for (const data of [
      undefined,
      {},
      null,
      [],
      { name: 'item', key: 'r:item:b', arg: 5, turn: null, until },
      { name: 'item', key: 'r:item:b', arg, turn: null, until },
      { name: 'item', key: 'r:item:b', arg: '', turn: { at: 'x' }, until: 'y' },
      { name: 'nobody', key: 'r:nobody:b', arg: 'oWI=', turn: null, until: Date.now() + 500 },
    ]) {
      await foreign.add('refresh', data, { attempts: 1 })
      await foreign.add('plan', data, { attempts: 1 })
      await foreign.add('what is this', data, { attempts: 1 })
    }
    await sleep(1_500)
    expect(got).toEqual(['a'])
    await item.invalidate('a')
    expect(await item.get('a')).toBe('a')
    // The plans of strangers end as well, in their own time.
    await vi.waitFor(async () => expect(await foreign.getActiveCount()).toBe(0), 10_000)
  })

  it('that stall because their worker was killed are run again, and load nothing twice', async () => {
    const { port } = server
    const precompute = { every: 60_000, args: ['k'], onMiss: 'wait' }
    const options = {
      port,
      definition: { precompute, lease: 500 },
      jobs: { worker: { stalledAfter: '1s' } },
      loader: { ms: 400 },
    }
    const [one] = await startProcesses(1, options)
    await expect.poll(() => one!.loads.length).toBe(1)
    await one!.kill()
    const [two] = await startProcesses(1, options)
    await expect
      .poll(() => two!.call('peek', { arg: 'k' }), { timeout: 6_000 })
      .toMatchObject({
        state: 'fresh',
      })
    const queue = queueOf(port, 'fleet')
    await expect.poll(() => queue.getActiveCount(), { timeout: 6_000 }).toBe(0)
    await sleep(500)
    expect(await loadsOf(server.admin, 'k')).toHaveLength(2)
    const told = await two!.events()
    expect(told.filter(({ operation }) => operation === 'bullmq').length).toBeGreaterThan(0)
    await stopProcesses()
  })
})

describe('a list', () => {
  it('that throws is told and read again, and what there was before is kept', async () => {
    const { cache, queue, told } = openCache(server.port)
    let reads = 0
    const item = cache.define({
      name: 'item',
      load: (id: string) => id,
      precompute: {
        every: '1s',
        args: () => {
          if (++reads % 2 === 0) throw new Error('no list today')
          return ['a', 'b']
        },
        onMiss: 'wait',
      },
    })
    await queue().ready
    await expect.poll(() => item.peek('b'), { timeout: 4_000 }).toMatchObject({ value: 'b' })
    await sleep(3_000)
    expect(await item.peek('a')).toMatchObject({ state: 'fresh' })
    expect(told.find(({ event }) => event === 'callbackFailed')).toMatchObject({
      callback: 'precompute.args',
    })
  })

  it('that changes from one period to the next is followed', async () => {
    const { cache, queue } = openCache(server.port)
    let list = ['a']
    const item = cache.define({
      name: 'item',
      load: (id: string) => id,
      precompute: { every: '1s', args: () => list, onMiss: 'placeholder', placeholder: () => '' },
    })
    await queue().ready
    await expect.poll(() => item.peek('a')).toMatchObject({ state: 'fresh' })
    list = ['b']
    await expect.poll(() => item.peek('b'), { timeout: 3_000 }).toMatchObject({ state: 'fresh' })
  })

  it('of 1,000 keys is made within one period, and leaves little behind', async () => {
    const { cache, queue } = openCache(server.port)
    const args = Array.from({ length: 1_000 }, (_, n) => n)
    const loads = new Map<number, number>()
    cache.define({
      name: 'item',
      load: (id: number) => {
        loads.set(id, (loads.get(id) ?? 0) + 1)
        return { id }
      },
      precompute: { every: '1m', args, onMiss: 'wait' },
    })
    await queue().ready
    await expect.poll(() => loads.size, { timeout: 50_000 }).toBe(1_000)
    expect(Math.max(...loads.values())).toBeLessThanOrEqual(2)
    await expect.poll(() => cache.health().late).toEqual([])
    const queued = queueOf()
    const { completed, failed } = await queued.getJobCounts('completed', 'failed')
    expect(completed).toBeLessThanOrEqual(101)
    expect(failed).toBe(0)
  }, 60_000)
})

describe('a cron schedule', () => {
  it('is planned by the same rules as without BullMQ', async () => {
    const { cache, queue } = openCache(server.port)
    const begun: number[] = []
    cache.define({
      name: 'item',
      load: () => begun.push(Date.now()),
      precompute: { cron: '*/2 * * * * *', timezone: 'Europe/Berlin', onMiss: 'wait' },
    })
    await queue().ready
    await sleep(6_500)
    expect(begun.length).toBeGreaterThanOrEqual(3)
    expect(begun.length).toBeLessThanOrEqual(5)
    for (const at of begun.slice(1)) expect(at % 2_000).toBeLessThan(600)
    const [scheduler] = await queueOf().getJobSchedulers()
    expect(scheduler!.pattern).toBe("cron '*/2 * * * * *' in Europe/Berlin")
  })
})
