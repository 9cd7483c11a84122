// A network that accepts connections and swallows what they carry, for a while.

import { startRedisServer, startTcpProxy, type RedisServer, type TcpProxy } from '@breakwater/rig'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { bothClients } from '../support/both-clients.ts'
import { until } from '../support/open-session.ts'

describe.each(bothClients)('a black hole before $library', ({ open }) => {
  let server: RedisServer
  let proxy: TcpProxy
  const ends: (() => unknown)[] = []

  beforeAll(async () => {
    server = await startRedisServer()
  })
  beforeEach(async () => {
    proxy = await startTcpProxy(server.connection as { host: string; port: number })
  })
  afterEach(async () => {
    for (const end of ends.splice(0).toReversed()) await end()
    await proxy.close()
  })
  afterAll(() => server.stop())

  const make = (): Cache => {
    const { store, end } = open(proxy.connection)
    const cache = createCache({ namespace: 'hole', ttl: '60s', connectTimeout: '200ms', store })
    ends.push(end, () => cache.close({ timeout: 100 }))
    return cache
  }

  // The clients wait for the first answers on a connection for ever.
  it('T091 a connection that was accepted in it is given up: all is well 5 s after its end', async () => {
    proxy.blackhole(true)
    const cache = make()
    await until(() => proxy.accepted >= 2)
    expect(await cache.getOrLoad('k', () => 1)).toBe(1)
    proxy.blackhole(false)
    const endedAt = performance.now()
    await until(
      () => cache.health().status === 'ok',
      () => JSON.stringify(cache.health()),
    )
    expect(performance.now() - endedAt).toBeLessThan(5_000)
    expect(proxy.open).toBe(2)
  })

  // Neither of them is told: the commands' by their silence, and the other one died of the same.
  it('T091 T073 connections that stood before it are made anew: all is well 5 s after it', async () => {
    const cache = make()
    await until(() => cache.health().status === 'ok')
    proxy.severSilently()
    const cutAt = performance.now()
    expect(await cache.getOrLoad('k', () => 1)).toBe(1)
    await until(() => cache.health().status === 'degraded')
    await until(() => cache.health().status === 'ok')
    expect(performance.now() - cutAt).toBeLessThan(5_000)
    expect(proxy.accepted).toBe(4)
  })
})
