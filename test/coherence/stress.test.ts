// Six seconds of everything at once on a real Redis: sources that change, invalidations, sets, readers
// in several processes, and leases so short that half of the loads outlive them. Afterwards nobody
// holds an old value. The same run with the fence taken out must find some: the test of the test.

import { randomInt } from 'node:crypto'
import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { startWorker, type WorkerProcess } from '../support/worker-process.ts'

const processes = 3
const shape = { caches: 2, keys: 24, leaseMs: 10, readers: 12, loadMs: 40 }
const keys = Array.from({ length: shape.keys }, (_, key) => key)

let server: RedisServer
let ledger: Redis
let members: WorkerProcess[] = []

beforeEach(async () => {
  server = await startRedisServer()
  ledger = new Redis(server.url)
})
afterEach(async () => {
  await Promise.all(members.map((member) => member.stop()))
  members = []
  ledger.disconnect()
  await server.stop()
})

interface Found {
  readonly reads: number
  readonly changes: number
  /** Answers older than what this cache's own finished invalidation had promised. */
  readonly late: number
  readonly errors: readonly string[]
}

async function gather(fence: boolean): Promise<void> {
  const seed = randomInt(2 ** 31)
  console.log(`stress, ${fence ? 'fenced' : 'without the fence'}: seed ${seed}`)
  for (const key of keys) await ledger.set(`source:${key}`, 1)
  members = await Promise.all(
    Array.from({ length: processes }, async (_, n) => {
      const options = { url: server.url, seed: seed + n * 7_919, fence, ...shape }
      return startWorker('stress.mjs', options)
    }),
  )
}

/** From every cache of every process. */
async function ofEach<T>(command: string): Promise<T[]> {
  return (await Promise.all(members.map((member) => member.call<T[]>(command)))).flat()
}

async function counted(name: string): Promise<number> {
  const counters = await ofEach<Record<string, number>>('counters')
  return counters.reduce((total, one) => total + one[name]!, 0)
}

/** Everything at once until `enough`, then quiescence; what is old then, in which tier. */
async function round(enough: () => Promise<unknown>) {
  await Promise.all(
    members.map((member, n) => {
      // Each key has one writer, so that the last write in the store is the last in the source.
      return member.call('start', { own: keys.filter((key) => key % processes === n) })
    }),
  )
  await enough()
  const found = await Promise.all(members.map((member) => member.call<Found>('stop')))
  // Nothing is under way any more; the last messages may still be, on a machine with much to do.
  await sleep(1_000)
  const source = await Promise.all(
    keys.map(async (key) => Number(await ledger.get(`source:${key}`))),
  )
  const behind = (tier: string, seen: (number | null)[][]): string[] =>
    seen.flatMap((versions) =>
      versions.flatMap((version, key) =>
        version === null || version === source[key]
          ? []
          : [`${tier}: key ${key} has ${version}, the source ${source[key]}`],
      ),
    )
  const stale = [
    ...behind('store', [await inStore()]),
    ...behind('peek', await ofEach<(number | null)[]>('held')),
    ...behind('get', await ofEach<number[]>('answers')),
  ]
  return {
    stale,
    changes: found.reduce((total, one) => total + one.changes, 0),
    late: found.reduce((total, one) => total + one.late, 0),
    errors: found.flatMap((one) => one.errors),
  }
}

/** What the store itself holds, seen by a cache without a memory. */
async function inStore(): Promise<(number | null)[]> {
  const client = new Redis(server.url)
  const cache = createCache({
    namespace: 'stress',
    ttl: '10m',
    memory: false,
    store: redisStore({ client }),
    storeTimeout: '5s',
  })
  const load = (_key: number): { version: number } => ({ version: 0 })
  const item = cache.define({ name: 'item', load })
  const versions: (number | null)[] = []
  for (const key of keys) {
    const seen = await item.peek(key)
    versions.push(seen.state === 'missing' ? null : seen.value.version)
  }
  await cache.close()
  client.disconnect()
  return versions
}

describe('readers, writers and leases that are too short', { timeout: 90_000 }, () => {
  it('T061 T084 leave no stale entry in any tier', async () => {
    await gather(true)
    const { errors, stale, late, changes } = await round(async () => {
      await sleep(6_000)
      // A machine that is busy with something else takes longer for as many.
      for (let n = 0; n < 60 && (await counted('fenced')) <= 1_000; n += 1) await sleep(250)
    })
    const [fenced, published] = [await counted('fenced'), await counted('published')]
    console.log(
      `${changes} changes, ${published} published, ${fenced} fenced, ${stale.length} stale`,
    )
    expect(errors).toEqual([])
    expect(stale).toEqual([])
    expect(late).toBe(0)
    expect(fenced).toBeGreaterThan(1_000)
    expect(published).toBeGreaterThan(50)
    expect(changes).toBeGreaterThan(100)
  })

  it('leave stale entries when the fence is taken out: the test would notice', async () => {
    await gather(false)
    const stale: string[] = []
    for (let n = 0; n < 8 && stale.length === 0; n += 1) {
      stale.push(...(await round(() => sleep(1_500))).stale)
    }
    console.log(`${stale.length} stale`)
    expect(await counted('fenced')).toBe(0)
    expect(stale.length).toBeGreaterThan(0)
  })
})

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
