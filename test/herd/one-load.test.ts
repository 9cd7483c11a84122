// The promise on real processes and a real Redis: however many callers, processes and situations,
// one load. Loads are counted by the loader itself, in Redis.

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { startHerd, type Answered, type HerdOptions, type Member } from '../support/herd.ts'

let server: RedisServer
let ledger: Redis
let herd: Member[] = []

beforeAll(async () => {
  server = await startRedisServer()
  ledger = new Redis(server.url)
})
afterEach(async () => {
  await Promise.all(herd.map((member) => member.stop()))
  herd = []
  await ledger.flushall()
})
afterAll(async () => {
  await ledger.quit()
  await server.stop()
})

async function gather(size: number, options: Omit<HerdOptions, 'url'>): Promise<void> {
  herd = await startHerd(size, { url: server.url, ...options })
}

async function all(callers: number): Promise<Answered[]> {
  return (await Promise.all(herd.map((member) => member.get('hot', callers)))).flat()
}

function loads(): number {
  return herd.flatMap((member) => member.loads).length
}

function values(answers: readonly Answered[]): Set<number | undefined> {
  expect(answers.filter((answer) => answer.error !== undefined)).toEqual([])
  return new Set(answers.map((answer) => answer.value?.run))
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

describe.each([
  { processes: 4, callers: 250 },
  { processes: 16, callers: 50 },
])('$processes processes × $callers callers of one key', ({ processes, callers }) => {
  it('run one load when it is cold', async () => {
    await gather(processes, { loader: { ms: 600 } })
    expect(values(await all(callers))).toEqual(new Set([1]))
    expect(loads()).toBe(1)
  })

  it('T016 run one load when it is stale, and are served the stale value', async () => {
    await gather(processes, {
      loader: { ms: 300 },
      definition: { ttl: 400, staleWhileRevalidate: '30s', jitter: 0, earlyRefresh: false },
    })
    expect(values(await all(1))).toEqual(new Set([1]))
    await sleep(500)
    expect(values(await all(callers))).toEqual(new Set([1]))
    await Promise.all(herd.map((member) => member.call('idle')))
    expect(loads()).toBe(2)
    expect(values(await all(callers))).toEqual(new Set([2]))
    expect(loads()).toBe(2)
  })

  it('run one load when it is refreshed early', async () => {
    // Δ is 300 ms and beta 1000: every process wants to refresh as soon as maxLead allows.
    await gather(processes, {
      loader: { ms: 300 },
      definition: { ttl: '4s', jitter: 0, earlyRefresh: { beta: 1000, maxLead: 0.75 } },
    })
    expect(values(await all(1))).toEqual(new Set([1]))
    await sleep(1500)
    expect(values(await all(callers))).toEqual(new Set([1]))
    await Promise.all(herd.map((member) => member.call('idle')))
    expect(loads()).toBe(2)
    const second = herd.flatMap((member) => member.loads).find((load) => load.run === 2)
    expect(second?.reason).toBe('early')
  })

  it('run one load straight after an invalidation', async () => {
    await gather(processes, { loader: { ms: 300 } })
    expect(values(await all(callers))).toEqual(new Set([1]))
    await herd[0]!.call('invalidate', { key: 'hot' })
    // It holds here when it has returned, and in the others when they have heard of it.
    for (const member of herd) {
      while ((await member.call<{ state: string }>('peek', { key: 'hot' })).state !== 'missing') {
        await sleep(1)
      }
    }
    expect(values(await all(callers))).toEqual(new Set([2]))
    expect(loads()).toBe(2)
  })

  it('run one load when the loader takes longer than the lease', async () => {
    await gather(processes, { loader: { ms: 2_500 }, definition: { lease: 600 } })
    expect(values(await all(callers))).toEqual(new Set([1]))
    expect(loads()).toBe(1)
  })

  it('T009 T010 run one load when it fails, and every caller is rejected', async () => {
    await gather(processes, { loader: { ms: 600, fails: true } })
    const answers = await all(callers)
    expect(loads()).toBe(1)
    expect(answers.filter((answer) => answer.error === undefined)).toEqual([])
    const codes = new Set(answers.map((answer) => answer.error!.code))
    expect(codes).toEqual(new Set(['E_SOURCE', 'LOAD_FAILED_ELSEWHERE']))
  })

  it('T079 T081 T082 run two loads when the holder is killed, and nobody waits for longer than lease, load and 250 ms', async () => {
    const lease = 1_000
    const load = 800
    await gather(processes, { loader: { ms: load }, definition: { lease } })
    const begun = new Promise<Member>((resolve) => {
      for (const member of herd) member.onLoading = () => resolve(member)
    })
    const answers = new Map(herd.map((member) => [member, member.get('hot', callers)]))
    const holder = await begun
    await sleep(200)
    const killedAt = performance.now()
    holder.kill()
    answers.delete(holder)
    const others = (await Promise.all(answers.values())).flat()
    const waitedMs = performance.now() - killedAt
    expect(values(others)).toEqual(new Set([2]))
    expect(others).toHaveLength((processes - 1) * callers)
    expect(loads()).toBe(2)
    // The bound of the design, on the holder's death; the whole herd is answered within it.
    expect(waitedMs).toBeLessThan(lease + load + 250)
  })
})
