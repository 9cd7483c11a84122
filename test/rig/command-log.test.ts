// The log of what servers are told, and its reader: it must find a forbidden command of ours, in
// whatever way it was sent, and must not take the tests' own for ours.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { canStartServers, startRedisServer, type RedisServer } from '@breakwater/rig'
import { Redis } from 'ioredis'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { until } from '../support/open-session.ts'

const reader = fileURLToPath(new URL('../../scripts/check-monitor.mjs', import.meta.url))

describe.skipIf(!canStartServers())('the log of commands', () => {
  const before = process.env['BREAKWATER_MONITOR']
  let directory: string
  let server: RedisServer
  let client: Redis
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'breakwater-'))
    process.env['BREAKWATER_MONITOR'] = directory
    server = await startRedisServer()
    client = new Redis(server.url)
  })
  afterEach(async () => {
    client.disconnect()
    await server.stop()
    if (before === undefined) delete process.env['BREAKWATER_MONITOR']
    else process.env['BREAKWATER_MONITOR'] = before
    rmSync(directory, { recursive: true })
  })

  /** A cache by the client, which does a bit of everything. */
  async function use(): Promise<void> {
    const cache = createCache({ namespace: 'log', ttl: '60s', store: redisStore({ client }) })
    await until(() => cache.health().status === 'ok')
    const item = cache.define({ name: 'n', load: (id: number) => id, tags: ['all'] })
    await item.getMany([1, 2, 3])
    await item.invalidate(1)
    await cache.invalidateTags('all')
    await cache.clear()
    await cache.close()
  }
  const check = async (): Promise<{ status: number | null; output: string }> => {
    await server.stop()
    const { status, stdout, stderr } = spawnSync(process.execPath, [reader, directory])
    return { status, output: `${stdout}${stderr}` }
  }

  it('passes where only others have sent what is forbidden', async () => {
    const other = new Redis(server.url)
    await use()
    await other.keys('*')
    await server.ask('FLUSHALL')
    await use()
    await other.flushdb()
    other.disconnect()
    const { status, output } = await check()
    expect(output).toContain('none of KEYS, SCAN, FLUSHDB, FLUSHALL')
    expect(output).toMatch(/commands by ours: .*EVALSHA \d+/)
    expect(status).toBe(0)
  })

  it.each<[string, () => Promise<unknown>]>([
    ['FLUSHALL', () => client.flushall()],
    ['FLUSHDB', () => client.flushdb('ASYNC')],
    ['KEYS', () => client.keys('bw:*')],
    ['SCAN', () => client.scan(0)],
    ['keys', () => client.eval("return redis.call('keys', 'bw:*')", 0)],
    ['FLUSHDB', () => client.multi().flushdb().exec()],
  ])('finds %s by a connection of ours', async (name, send) => {
    await use()
    await send()
    await use()
    const { status, output } = await check()
    expect(output).toMatch(new RegExp(`sent by one of ours: .*"${name}"`, 'i'))
    expect(status).toBe(1)
  })

  it('goes on after a restart, and after its connection was killed', async () => {
    await use()
    client.disconnect()
    await server.restart()
    await server.ask('CLIENT', 'KILL', 'TYPE', 'normal')
    client = new Redis(server.url)
    await use()
    await client.flushall()
    const { status, output } = await check()
    expect(output).toContain('2 servers')
    expect(output).toContain('sent by one of ours')
    expect(status).toBe(1)
  })

  it('is not believed where it is empty', async () => {
    await server.ask('FLUSHALL')
    const { status, output } = await check()
    expect(output).toContain('found none')
    expect(status).toBe(1)
  })
})
