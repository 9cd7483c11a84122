// The promise in figures: 1,000,000 ids at 1 %. False positives within 10 % of the formula, none that
// is in it refused, bytes within 5 % of −n·ln p / (ln 2)².

import { startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { memoryGuard } from '../../src/guard/index.ts'
import type { GuardPort } from '../../src/ports.ts'
import { until } from '../support/open-session.ts'
import { quickGuard } from '../support/quick-guard.ts'
import { mayExist } from './guard-suite.ts'

const capacity = 1_000_000
const errorRate = 0.01
const formulaBytes = (-capacity * Math.log(errorRate)) / Math.LN2 ** 2 / 8

function* numbered(prefix: string, count: number): Generator<string> {
  for (let n = 0; n < count; n += 1) yield `${prefix}${n}`
}

/** Share that may exist. */
async function shareOf(guard: GuardPort, prefix: string, count: number): Promise<number> {
  let maybe = 0
  let turn: Promise<boolean>[] = []
  let asked = 0
  for (const id of numbered(prefix, count)) {
    // A process that never takes in what comes is deaf.
    if ((asked += 1) % 10_000 === 0) await new Promise((resolve) => setImmediate(resolve))
    const known = guard.know(id)
    if (known === undefined) turn.push(guard.ask(id))
    else if (known) maybe += 1
    if (turn.length < 2_000) continue
    maybe += (await Promise.all(turn)).filter(Boolean).length
    turn = []
  }
  return (maybe + (await Promise.all(turn)).filter(Boolean).length) / count
}

const near = (share: number) => {
  expect(share).toBeGreaterThan(errorRate * 0.9)
  expect(share).toBeLessThan(errorRate * 1.1)
}

describe('1,000,000 ids at 1 %', () => {
  let server: RedisServer
  let client: Redis
  beforeAll(async () => {
    server = await startRedisServer()
    client = new Redis({ ...server.connection })
  })
  afterAll(async () => {
    client.disconnect()
    await server.stop()
  })

  it('in memory', async () => {
    const guard = memoryGuard({ capacity, errorRate }) as GuardPort & ReturnType<typeof memoryGuard>
    await guard.addMany(numbered('user:', capacity))
    expect(await shareOf(guard, 'user:', capacity)).toBe(1)
    near(await shareOf(guard, 'nobody:', 300_000))
    const { bytes, added, errorRate: expected } = guard.info()
    expect(Math.abs(bytes / formulaBytes - 1)).toBeLessThan(0.05)
    expect(Math.abs(added / capacity - 1)).toBeLessThan(0.01)
    near(expected)
  })

  it('in Redis, with a copy and without', async () => {
    const pace = { beatMs: 2_000, pollMs: 2_000 }
    const options = { client, pace, name: 'million', capacity, errorRate, timeout: 5_000 }
    const shared = quickGuard(options)
    await shared.rebuild(numbered('user:', capacity))
    const copy = quickGuard({ ...options, replica: true })
    await until(() => copy.know('nobody:0') !== undefined && copy.info().state === 'ready')
    expect(await shareOf(copy, 'user:', capacity)).toBe(1)
    near(await shareOf(copy, 'nobody:', 300_000))
    expect(await mayExist(shared, 'user:5')).toBe(true)
    // The same bits: a part of them is enough.
    expect(await shareOf(shared, 'user:', 20_000)).toBe(1)
    near(await shareOf(shared, 'nobody:', 60_000))
    expect(Math.abs(shared.info().bytes / formulaBytes - 1)).toBeLessThan(0.05)

    const keys = (await server.ask('KEYS', 'bw-guard:*')) as string[]
    let used = 0
    for (const key of keys) used += Number(await server.ask('MEMORY', 'USAGE', key))
    expect(Math.abs(used / formulaBytes - 1)).toBeLessThan(0.05)
    await Promise.all([shared.close(), copy.close()])
  })

  it('in Redis, added to what is there', async () => {
    const guard = quickGuard({
      client,
      name: 'added',
      capacity: 30_000,
      errorRate,
      timeout: 5_000,
    })
    await guard.rebuild(['first'])
    await guard.addMany(numbered('user:', 30_000))
    expect(await shareOf(guard, 'user:', 1_000)).toBe(1)
    await guard.close()
    const other = quickGuard({
      client,
      name: 'added',
      replica: true,
      pace: { beatMs: 2_000, pollMs: 2_000 },
    })
    await until(() => other.know('nobody:0') !== undefined && other.info().state === 'ready')
    expect(await shareOf(other, 'user:', 30_000)).toBe(1)
    near(await shareOf(other, 'nobody:', 300_000))
    await other.close()
  })
})
