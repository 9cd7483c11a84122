// The command finds every kind of server by its URL: TLS with a certificate authority, Sentinel, and a
// cluster, named as one or found out.

import {
  type ClusterNode,
  startRedisCluster,
  startRedisSentinel,
  startRedisServer,
} from '@breakwater/rig'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { Cluster, Redis } from 'ioredis'
import { afterEach, expect, it } from 'vitest'
import { createCache, type Cache } from '../../src/index.ts'
import { redisStore } from '../../src/redis/ioredis.ts'
import { runCommand } from '../support/run-command.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Two caches as two processes, with an entry and a definition. */
async function fleet(make: () => Redis | Cluster): Promise<Cache> {
  const [one, other] = [make(), make()].map((client) => {
    client.on('error', () => {})
    const cache = createCache({
      namespace: 'shop',
      ttl: '1h',
      storeTimeout: '5s',
      store: redisStore({ client }),
    })
    ends.push(
      () => client.disconnect(),
      () => cache.close(),
    )
    return cache
  })
  const item = one!.define({ name: 'item', load: async (id: number) => ({ id }) })
  other!.define({ name: 'item', load: async (id: number) => ({ id }) })
  await expect.poll(() => [one!.health().bus, other!.health().bus]).toEqual(['up', 'up'])
  await item.get(1)
  await one!.idle()
  return one!
}

/** What must work alike, by any URL. */
async function works(cache: Cache, redis: string, ...more: readonly string[]): Promise<void> {
  const to = ['--redis', redis, '-n', 'shop', ...more]
  const [seen, top] = await Promise.all([
    runCommand(['inspect', 'r:item:#1', '--json', ...to]),
    runCommand(['top', '--json', '--interval', '1', ...to]),
  ])
  expect(seen).toMatchObject({ code: 0, stderr: '' })
  expect(seen.json()).toMatchObject({ state: 'fresh', frame: { value: { value: { id: 1 } } } })
  expect(top.json().processes).toHaveLength(2)
  await cache.getOrLoad('mine', async () => 1)
  await cache.idle()
  expect(await runCommand(['invalidate', 'mine', ...to])).toMatchObject({ code: 0, stderr: '' })
  await expect.poll(async () => (await cache.peek('mine')).state).toBe('missing')
}

it('TLS: by the authority’s certificate, not without, and --insecure by no certificate', async () => {
  const file = (name: string): string => fileURLToPath(new URL(`tls/${name}`, import.meta.url))
  const port = await freePort()
  const keys = ['--tls-cert-file', file('server.pem'), '--tls-key-file', file('server.key')]
  const authority = ['--tls-ca-cert-file', file('ca.pem'), '--tls-auth-clients', 'no']
  const server = await startRedisServer({
    args: ['--tls-port', String(port), ...keys, ...authority],
  })
  ends.push(() => server.stop())
  const cache = await fleet(() => new Redis(server.url))
  await works(cache, `rediss://localhost:${port}`, '--tls-ca', file('ca.pem'))

  const run = (...more: readonly string[]) =>
    runCommand([
      'inspect',
      'r:item:#1',
      '-n',
      'shop',
      '--redis',
      `rediss://localhost:${port}`,
      ...more,
    ])
  const [without, insecure, missing] = await Promise.all([
    run(),
    run('--insecure'),
    run('--tls-ca', 'no-such-file.pem'),
  ])
  expect(without).toMatchObject({ code: 3, stderr: expect.stringContaining('--tls-ca FILE') })
  expect(insecure).toMatchObject({ code: 0 })
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('--tls-ca: expected') })
})

it('Sentinel: by the sentinels and the master’s name, with the master’s password', async () => {
  const sentinel = await startRedisSentinel({ replicas: 1, sentinels: 3, password: 'pw' })
  ends.push(() => sentinel.stop())
  const { name, sentinels } = sentinel
  const cache = await fleet(() => new Redis({ name, sentinels: [...sentinels], password: 'pw' }))
  const hosts = sentinels.map(({ host, port }) => `${host}:${port}`).join(',')
  const url = `redis+sentinel://:pw@${hosts}/${name}`
  await works(cache, url)
  const doctor = await runCommand(['doctor', '--json', '--redis', url, '-n', 'shop'])
  const findings = doctor.json().findings as { check: string; result: string; found: string }[]
  expect(doctor.json()).toMatchObject({ kind: 'sentinel', problems: 0 })
  expect(findings).toContainEqual({
    check: 'sentinel',
    result: 'ok',
    found: '3 sentinels, quorum 2, 1 replicas',
  })
  const wrong = await runCommand([
    'inspect',
    'k',
    '-n',
    'shop',
    '--redis',
    url.replace(/main$/, 'other'),
  ])
  expect(wrong.code).toBe(3)
})

it('a cluster: by any of its nodes, recognized or said; its doctor checks each master', async () => {
  const cluster = await startRedisCluster({ masters: 3, replicas: 0 })
  ends.push(() => cluster.stop())
  const { addresses, nodes } = cluster
  const cache = await fleet(() => new Cluster([...addresses]))
  const hosts = addresses.map(({ host, port }) => `${host}:${port}`)
  await works(cache, `redis://${hosts[0]}`)
  const [said, doctor, database] = await Promise.all([
    runCommand(['tags', '--redis', `redis+cluster://${hosts.join(',')}`, '-n', 'shop']),
    runCommand(['doctor', '--json', '--redis', `redis://${hosts[1]}`, '-n', 'shop']),
    runCommand(['tags', '--redis', `redis://${hosts[0]}/3`, '-n', 'shop']),
  ])
  expect(said).toMatchObject({ code: 0, stderr: '' })
  expect(database).toMatchObject({ code: 2 })

  const findings = doctor.json().findings as Record<string, string>[]
  expect(doctor.json()).toMatchObject({ kind: 'cluster', problems: 0 })
  const versions = findings.filter(({ check }) => check === 'version').map(({ server }) => server)
  expect(new Set(versions)).toEqual(new Set(hosts))
  for (const check of ['permissions', 'scripting']) {
    const results = findings.filter((one) => one['check'] === check).map(({ result }) => result)
    expect(results).toEqual(['ok', 'ok', 'ok'])
  }
  expect(findings.find(({ check }) => check === 'bus')).toMatchObject({ result: 'ok' })
  expect(findings.find(({ check }) => check === 'cluster')).toMatchObject({
    result: 'warning',
    found: expect.stringMatching(/^3 masters, 16384 of 16384 slots served; without a replica: /),
  })

  // One of them gives a slot away, and no other knows.
  await nodes[2]!.ask('CLUSTER', 'DELSLOTS', await slotOf(nodes[2]!))
  const broken = await runCommand(['doctor', '--json', '--redis', `redis://${hosts[0]}`])
  expect(broken.code).toBe(1)
  expect(broken.json().findings).toContainEqual(
    expect.objectContaining({
      check: 'cluster',
      result: 'problem',
      found: expect.stringContaining('3 masters, 16383 of 16384 slots served'),
    }),
  )
})

/** Any that it serves. */
async function slotOf(node: ClusterNode): Promise<number> {
  const lines = String(await node.ask('CLUSTER', 'NODES')).split('\n')
  return Number(/ (\d+)(?:-\d+)?\s*$/.exec(lines.find((line) => line.includes('myself'))!)![1])
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  listener.close()
  await once(listener, 'close')
  return port
}
