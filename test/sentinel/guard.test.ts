// The shared guard through Sentinel: by another master, which may have missed the last additions,
// nobody is refused until the filter is built anew.

import { startRedisSentinel, type RedisSentinel } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { ids, refusedOf } from '../guard/guard-suite.ts'
import { nodeRedisClients, usualFlavours } from '../support/node-redis-clients.ts'
import { until } from '../support/open-session.ts'
import { freshName, quickGuard } from '../support/quick-guard.ts'

let rig: RedisSentinel
beforeAll(async () => {
  rig = await startRedisSentinel({ replicas: 1, sentinels: 1 })
})
afterAll(() => rig.stop())

/** What was built by another is known a moment later, and whoever is in doubt refuses nobody. */
const refuses = (guard: Parameters<typeof refusedOf>[0]): Promise<void> =>
  vi.waitFor(async () => {
    expect((await refusedOf(guard, ids(500, 600))).length).toBeGreaterThan(80)
  }, 10_000)

it('refuses nobody after a failover, until it is built anew', { timeout: 60_000 }, async () => {
  const { sentinels, name } = rig
  const ioredis = new Redis({ sentinels: [...sentinels], name, sentinelRetryStrategy: () => 50 })
  ioredis.on('error', () => {})
  const clients = nodeRedisClients(usualFlavours[1]!)
  const nodeRedis = await clients.sentinel(rig)
  const filter = freshName()
  const guards = [ioredis, nodeRedis].map((client) =>
    quickGuard<string>({ client, name: filter, timeout: 500 }),
  )
  for (const guard of guards) {
    await guard.rebuild(ids(0, 100))
    await guard.add('id-100')
  }
  for (const guard of guards) {
    await until(() => guard.info().state === 'ready')
    expect(await refusedOf(guard, ids(0, 101))).toEqual([])
    await refuses(guard)
  }
  await rig.failOver()
  for (const guard of guards) {
    // Sentinel takes ten seconds to cut the connections to the one that is master no more.
    await vi.waitFor(() => expect(guard.info().state).toBe('lost'), 30_000)
    expect(await refusedOf(guard, ids(0, 600))).toEqual([])
  }
  await guards[0]!.rebuild(ids(0, 100))
  for (const guard of guards) {
    await until(() => guard.info().state === 'ready')
    await refuses(guard)
    await guard.close()
  }
  ioredis.disconnect()
  clients.end()
})
