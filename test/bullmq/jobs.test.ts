// One refresh as a job: what it is given, when it is tried again, and what is asked for between turns.

import { Queue } from 'bullmq'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { openCache } from '../support/queue-caches.ts'
import { sleep } from '../support/open-session.ts'
import { ownServer } from '../support/own-server.ts'

const server = ownServer()
beforeEach(() => server.admin.flushall())

function queueOf(namespace = 'jobs'): Queue {
  const connection = { port: server.port }
  const queue = new Queue('refresh', { connection, prefix: `{breakwater:${namespace}}` })
  onTestFinished(() => queue.close())
  return queue
}

describe('a refresh that fails', () => {
  it('is tried again, later each time, until it succeeds', async () => {
    const { cache, queue, told } = openCache(server.port)
    const begun: number[] = []
    const item = cache.define({
      name: 'item',
      load: () => {
        begun.push(Date.now())
        if (begun.length < 5) throw new Error('the source said no')
        return 'made'
      },
      errorBackoff: 50,
      precompute: { every: '2s', onMiss: 'wait' },
    })
    await queue().ready
    await expect.poll(() => item.peek(), { timeout: 10_000 }).toMatchObject({ value: 'made' })
    const gaps = begun.slice(1).map((at, n) => at - begun[n]!)
    expect(gaps).toHaveLength(4)
    // A twentieth of the period, doubled each time. A busy machine only adds; so much that the last
    // of them may be the next period's.
    for (const [n, least] of [100, 200, 400].entries()) {
      expect(gaps[n]).toBeGreaterThanOrEqual(least * 0.85)
    }
    await expect
      .poll(() => told.filter((one) => one.event === 'alert' && one['kind'] !== 'late'))
      .toMatchObject([{ kind: 'failed', failures: 3 }, { kind: 'resolved' }])
  })

  it('raises the alert before the entry ends', async () => {
    const { cache, queue, told } = openCache(server.port)
    let fails = false
    const item = cache.define({
      name: 'item',
      load: () => {
        if (fails) throw new Error('the source said no')
        return 'made'
      },
      ttl: '2s',
      precompute: { every: '1s', onMiss: 'wait' },
    })
    await queue().ready
    expect(await item.get()).toBe('made')
    fails = true
    const alert = () => told.find((one) => one.event === 'alert' && one['kind'] === 'failed')
    await expect.poll(alert, { timeout: 4_000 }).toMatchObject({ failures: 3, name: 'item' })
    expect(alert()!.at).toBeLessThan(alert()!['expiresAt'] as number)
    fails = false
    await expect.poll(() => told.at(-1), { timeout: 4_000 }).not.toMatchObject({ kind: 'failed' })
    await expect
      .poll(() => told.filter(({ event }) => event === 'alert').at(-1), { timeout: 4_000 })
      .toMatchObject({ kind: 'resolved' })
    expect(cache.health().late).toEqual([])
  })

  it('that has failed for good makes room for the next', async () => {
    const { cache, queue } = openCache(server.port)
    let loads = 0
    cache.define({
      name: 'item',
      load: () => {
        loads++
        throw new Error('the source said no')
      },
      precompute: { every: '1s', onMiss: 'wait' },
    })
    await queue({ attempts: 1, backoff: { type: 'fixed', delay: 10 } }).ready
    await expect.poll(() => loads, { timeout: 5_000 }).toBeGreaterThan(3)
    expect(await queueOf().getFailedCount()).toBeGreaterThan(1)
  })
})

describe('a key that is asked for', () => {
  it('a thousand times has one job, in a process that does not load', async () => {
    const { cache, queue } = openCache(server.port)
    const item = cache.define({
      name: 'item',
      load: (id: string) => id,
      precompute: { every: '1m', args: [], onMiss: 'placeholder', placeholder: () => 'not yet' },
    })
    await queue({ worker: false }).ready
    const said = await Promise.all(Array.from({ length: 1_000 }, () => item.get('a')))
    await sleep(150)
    said.push(...(await Promise.all(Array.from({ length: 1_000 }, () => item.get('a')))))
    expect(new Set(said)).toEqual(new Set(['not yet']))
    await expect
      .poll(() => queueOf().getJobCounts('wait', 'delayed', 'prioritized', 'active'))
      .toEqual({
        wait: 1,
        delayed: 0,
        prioritized: 0,
        active: 0,
      })
  })

  it.each(['wait', 'placeholder'] as const)(
    'in a process that does not load is made by one that does, with onMiss %s',
    async (onMiss) => {
      const web = openCache(server.port)
      const worker = openCache(server.port)
      const loaders: string[] = []
      const define = (who: string, { cache }: typeof web) =>
        cache.define({
          name: 'item',
          load: (id: string) => {
            loaders.push(who)
            return `made of ${id}`
          },
          precompute:
            onMiss === 'wait'
              ? { every: '1m', args: [], onMiss }
              : { every: '1m', args: [], onMiss, placeholder: () => 'not yet' },
        })
      const item = define('web', web)
      define('worker', worker)
      await Promise.all([web.queue({ worker: false }).ready, worker.queue().ready])
      if (onMiss === 'placeholder') expect(await item.get('a')).toBe('not yet')
      const begun = Date.now()
      await expect.poll(() => item.get('a'), { interval: 20 }).toBe('made of a')
      expect(Date.now() - begun).toBeLessThan(1_000)
      expect(loaders).toEqual(['worker'])
    },
  )

  it('in a process without a queue is made by one that has it in its list', async () => {
    const bystander = openCache(server.port)
    const worker = openCache(server.port)
    const loads = { bystander: 0, worker: 0 }
    const define = (who: keyof typeof loads, { cache }: typeof worker) =>
      cache.define({
        name: 'item',
        load: (id: string) => `${id}${++loads[who]}`,
        precompute: { every: '1m', args: ['a'], onMiss: 'wait' },
      })
    const item = define('bystander', bystander)
    define('worker', worker)
    await worker.queue().ready
    expect(await item.get('a')).toBe('a1')
    await server.admin.del(...(await server.admin.keys('bw:jobs:*:v')))
    const another = openCache(server.port)
    const again = define('bystander', another)
    expect(await again.get('a')).toBe('a2')
    expect(loads.bystander).toBe(0)
  })

  it('is made before anyone asks after it was invalidated', async () => {
    const { cache, queue } = openCache(server.port)
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: () => ++loads,
      precompute: { every: '1m', onMiss: 'wait' },
    })
    await queue().ready
    expect(await item.get()).toBe(1)
    await item.invalidate()
    await expect.poll(() => item.peek()).toMatchObject({ state: 'fresh', value: 2 })
    await cache.clear()
    await expect.poll(() => item.peek()).toMatchObject({ state: 'fresh', value: 3 })
  })

  it('and changed while it is loaded is loaded once more', async () => {
    const { cache, queue } = openCache(server.port)
    let loads = 0
    const item = cache.define({
      name: 'item',
      load: async () => {
        const n = ++loads
        await sleep(200)
        return n
      },
      precompute: { every: '1m', onMiss: 'wait' },
    })
    await queue().ready
    await expect.poll(() => loads).toBe(1)
    await item.invalidate()
    await expect.poll(() => item.peek(), { timeout: 2_000 }).toMatchObject({ value: 2 })
    expect(await item.get()).toBe(2)
  })
})

describe('arguments', () => {
  it.each([
    ['text', 'é\u0000\ud83d'],
    ['a number', -0.1],
    ['a bigint', 2n ** 70n],
    ['a Date', new Date(5)],
    ['an object', { at: new Date(1), list: [1n, null, undefined, { deep: 'x' }] }],
    ['nothing', undefined],
    ['null', null],
  ])('that are %s come to the loader as they were', async (_, arg: unknown) => {
    const web = openCache(server.port)
    const worker = openCache(server.port)
    const got: unknown[] = []
    const define = ({ cache }: typeof web) =>
      cache.define({
        name: 'item',
        load: (given: unknown) => {
          got.push(given)
          return 'made'
        },
        precompute: { every: '1m', args: [arg], onMiss: 'wait' },
      })
    const item = define(web)
    define(worker)
    await Promise.all([web.queue({ worker: false }).ready, worker.queue().ready])
    expect(await item.get(arg as never)).toBe('made')
    expect(got).toEqual([arg])
  })

  it('that a job cannot carry are refused, and told', async () => {
    const { cache, queue, told } = openCache(server.port)
    class User {
      readonly id = 'u'
      name(): string {
        return this.id
      }
    }
    cache.define({
      name: 'item',
      load: (user: User) => user.name(),
      key: (user: User) => user.name(),
      precompute: { every: '1m', args: [new User()], onMiss: 'wait' },
    })
    await queue().ready
    await expect
      .poll(() => told.filter(({ event }) => event === 'callbackFailed')[0])
      .toMatchObject({
        callback: 'precompute.args',
        error: { code: 'INVALID_KEY', message: expect.stringContaining('a job can carry') },
      })
  })
})

describe('two caches on one Redis', () => {
  it('do not see the jobs of each other', async () => {
    const made: string[] = []
    for (const namespace of ['one', 'two']) {
      const { cache, queue } = openCache(server.port, { namespace })
      const item = cache.define({
        name: 'item',
        load: () => {
          made.push(namespace)
          return namespace
        },
        precompute: { every: '1m', onMiss: 'wait' },
      })
      await queue().ready
      expect(await item.get()).toBe(namespace)
      expect(await queueOf(namespace).getJobSchedulersCount()).toBe(1)
    }
    expect(made).toEqual(['one', 'two'])
  })
})

describe('a switch', () => {
  it.each(['no-refresh', 'stale-only', 'bypass'] as const)(
    "to '%s' is respected, and what was missed comes after it",
    async (mode) => {
      const { cache, queue, told } = openCache(server.port)
      let loads = 0
      cache.define({
        name: 'item',
        load: () => ++loads,
        precompute: { every: '1s', onMiss: 'wait' },
      })
      cache.switchTo(mode)
      await queue().ready
      await sleep(2_500)
      expect(loads).toBe(0)
      expect(told.filter(({ event }) => event === 'alert')).toEqual([])
      cache.switchTo(undefined)
      await expect.poll(() => loads, { timeout: 2_000 }).toBeGreaterThan(0)
    },
  )
})
