// A client through Sentinel: the master is changed by command, killed, frozen or demoted, and
// commands and bus follow to the new one.

import { startRedisSentinel, type RedisSentinel } from '@breakwater/rig'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { well } from '../support/well.ts'
import { twoMajors, type TestClient } from '../support/ioredis-majors.ts'
import { sleep } from '../support/open-session.ts'
import { truthOf } from '../support/truth.ts'

const keys = Array.from({ length: 12 }, (_, n) => `key-${n}`)

describe.each(twoMajors)('through Sentinel, with $major', { timeout: 180_000 }, ({ Redis }) => {
  let watched: RedisSentinel
  const clients: TestClient[] = []
  const caches: Cache[] = []
  const make = (options: Partial<CacheOptions> = {}) => {
    const { sentinels, name } = watched
    const client = new Redis({
      sentinels,
      name,
      password: 'secret',
      sentinelRetryStrategy: () => 50,
    })
    client.on('error', () => {})
    clients.push(client)
    const store = redisStore({ client })
    const cache = createCache({
      namespace: 'suite',
      ttl: '5m',
      storeTimeout: '500ms',
      connectTimeout: '10s',
      store,
      ...options,
    })
    caches.push(cache)
    return cache
  }
  const twoWell = async () => {
    const two = [make(), make()] as const
    await well(...two)
    return two
  }
  const taken = (change: () => Promise<void>) =>
    expect.poll(() => change().then(() => 'taken', String), { timeout: 60_000 }).toBe('taken')

  beforeEach(async () => {
    watched = await startRedisSentinel({ password: 'secret' })
  }, 90_000)
  afterEach(async () => {
    await Promise.all(caches.splice(0).map((cache) => cache.close({ timeout: 100 })))
    for (const client of clients.splice(0)) client.disconnect()
    await watched.stop()
  })

  it('T094 a failover by command: served throughout, and writes work again', async () => {
    const [mine, other] = await twoWell()
    const truth = truthOf(mine, other)
    const told = await truth.traffic(keys, async () => {
      await sleep(300)
      await watched.failOver()
      await sleep(1_000)
    })
    expect(told.errors).toEqual([])
    await well(mine, other)
    await taken(() => truth.changeAll(keys))
    await truth.settles(keys)
  })

  it('the master is killed: served throughout, and writes work again', async () => {
    const [mine, other] = await twoWell()
    const truth = truthOf(mine, other)
    const told = await truth.traffic(keys, async () => {
      await sleep(300)
      const master = await watched.master()
      await master.kill()
      await watched.successorOf(master)
      await sleep(1_000)
    })
    expect(told.errors).toEqual([])
    await well(mine, other)
    await taken(() => truth.changeAll(keys))
    await truth.settles(keys)
  })

  it('the master is frozen and comes back as a replica: nobody stays with it', async () => {
    const [mine, other] = await twoWell()
    const truth = truthOf(mine, other)
    const master = await watched.master()
    const told = await truth.traffic(keys, async () => {
      await sleep(300)
      master.freeze()
      await watched.successorOf(master)
      await sleep(1_000)
      master.thaw()
      await expect.poll(() => master.ask('ROLE'), { timeout: 60_000 }).toContain('slave')
      await sleep(500)
    })
    expect(told.errors).toEqual([])
    await well(mine, other)
    await taken(() => truth.changeAll(keys))
    await truth.settles(keys)
  })

  it('what was invalidated and the new master never heard of does not come back', async () => {
    const [mine, other] = await twoWell()
    const truth = truthOf(mine, other)
    await truth.settles(keys)
    const master = await watched.master()
    const replicas = watched.servers.filter((server) => server !== master)
    for (const replica of replicas) {
      await expect
        .poll(async () => Number(await replica.ask('DBSIZE')))
        .toBeGreaterThanOrEqual(keys.length)
      await replica.ask('CONFIG', 'SET', 'masterauth', 'wrong')
      await replica.ask('CLIENT', 'KILL', 'TYPE', 'MASTER')
    }
    await truth.changeAll(keys)
    await master.kill()
    const heir = await watched.successorOf(master)
    await heir.ask('CONFIG', 'SET', 'masterauth', 'secret')
    await well(mine, other)
    await truth.settles(keys, 8_000)
  })
})
