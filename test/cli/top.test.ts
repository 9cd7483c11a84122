// `breakwater top` over a real bus: rates by definition and process, and what strangers say on it.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { until } from '../support/open-session.ts'
import { runCommand } from '../support/run-command.ts'
import { ratesBetween } from '../../cli/src/top/rates.ts'

let server: RedisServer
const clients: Redis[] = []
const caches: Cache[] = []

beforeAll(async () => {
  server = await startRedisServer()
  for (let n = 0; n < 2; n++) {
    const client = new Redis(server.url)
    clients.push(client)
    caches.push(createCache({ namespace: 'shop', ttl: '1h', store: redisStore({ client }) }))
  }
  await until(() => caches.every((cache) => cache.health().bus === 'up'))
})
afterAll(async () => {
  await Promise.all(caches.map((cache) => cache.close({ timeout: 0 })))
  for (const client of clients) client.disconnect()
  await server.stop()
})

it('shows definitions by how hot they are, with hits, loads and who waits', async () => {
  const items = caches.map((cache) =>
    cache.define({ name: 'item', load: async (id: number) => id }),
  )
  const slow = caches[0]!.define({ name: 'slow', load: () => new Promise<number>(() => {}) })
  const waiting = [slow.get(), slow.get()].map((one) => one.catch(() => {}))
  const asking = setInterval(() => {
    for (const item of items) for (let id = 0; id < 10; id++) void item.get(id)
  }, 10)
  // Strangers: none of them is a process of ours, or harms one.
  const noise = setInterval(() => {
    for (const text of [
      'b1c',
      'b1c\x0eshort',
      `b1h\x0e${'x'.repeat(14)}\0\0{"id":1}`,
      `b1c\x0e${'{}*?'.repeat(4)}`,
    ]) {
      void clients[0]!.publish('bw:shop:0:', text)
    }
  }, 10)
  const ran = await runCommand([
    'top',
    '--json',
    '--interval',
    '1',
    '--redis',
    server.url,
    '-n',
    'shop',
  ])
  clearInterval(asking)
  clearInterval(noise)
  expect(ran).toMatchObject({ code: 0, stderr: '' })
  const { definitions, processes } = ran.json()
  expect(processes).toHaveLength(2)
  for (const one of processes)
    expect(one).toMatchObject({ pid: process.pid, status: 'ok', bus: 'up' })
  const named = (name: string) => definitions.find((one: { name: string }) => one.name === name)
  expect(definitions[0].name).toBe('item')
  expect(named('item').requests).toBeGreaterThan(0)
  expect(named('item').hits).toBeLessThanOrEqual(named('item').requests)
  expect(named('slow')).toMatchObject({ waiting: 2, loading: 1 })
  void Promise.all(waiting)
})

it('ends with 1, and says why that may be, where nobody answers', async () => {
  const ran = await runCommand(['top', '--once', '--redis', server.url, '-n', 'nobody'])
  expect(ran).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('no process of the namespace nobody'),
  })
})

it('rates are of each process’s own time, and a process that has begun since counts from its start', () => {
  const loads = { running: 0, queued: 0, limit: 64, abandoned: 0 }
  const common = {
    pid: 1,
    host: 'h',
    status: 'ok',
    store: 'up',
    bus: 'up',
    loads,
    left: 0,
  } as const
  const before = [{ ...common, id: 'a', uptimeMs: 10_000, definitions: { d: { hitMemory: 100 } } }]
  const after = [
    {
      ...common,
      id: 'a',
      uptimeMs: 14_000,
      definitions: { d: { hitMemory: 180, stale: 20, waiting: 3 } },
    },
    { ...common, id: 'b', uptimeMs: 500, definitions: { d: { hitStore: 10, loads: 5 } } },
  ]
  const { definitions, processes } = ratesBetween(before, after)
  expect(definitions).toEqual([
    {
      name: 'd',
      requests: 45,
      hits: 40,
      memoryHits: 20,
      stale: 5,
      loads: 10,
      failures: 0,
      waiting: 3,
      loading: 0,
    },
  ])
  expect(processes.map(({ id, requests }) => [id, requests])).toEqual([
    ['a', 25],
    ['b', 20],
  ])
  // One that was restarted under the same name, or a sample of the same moment: nothing below zero.
  expect(ratesBetween(after, before).definitions[0]).toMatchObject({ requests: 0 })
})
