// What `breakwater doctor` finds on servers as they are met: Debian's default, one that evicts, one
// with a narrow ACL, a replica, one whose save has failed. Each is right about what is ill, and
// silent about what is not.

import { startRedisServer, type RedisServer, type RedisServerOptions } from '@breakwater/rig'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, it } from 'vitest'
import { runCommand } from '../support/run-command.ts'

const servers: RedisServer[] = []
afterAll(() => Promise.all(servers.map((server) => server.stop())))

async function start(options: RedisServerOptions = {}): Promise<RedisServer> {
  const server = await startRedisServer(options)
  servers.push(server)
  return server
}

interface Found {
  readonly check: string
  readonly result: string
  readonly found: string
  readonly change?: string
}

/** By check; latency and clock are the machine's, and it may be busy. */
async function examine(url: string, ...more: readonly string[]) {
  const ran = await runCommand([
    'doctor',
    '--json',
    '--redis',
    url,
    '-n',
    'shop',
    '--store-timeout',
    '60000',
    ...more,
  ])
  const found = ran.json().findings as Found[]
  const of = (check: string): Found => found.find((one) => one.check === check)!
  const ill = found.filter(({ result }) => result === 'warning' || result === 'problem')
  return { ...ran, of, ill: ill.map(({ check, result }) => `${check}: ${result}`) }
}

it('Debian’s default: no limit on memory, and a save that fails would stop all writes', async () => {
  const conf = fileURLToPath(new URL('debian-redis.conf', import.meta.url))
  const server = await start({ args: ['--include', conf, '--save', '3600 1 300 100 60 10000'] })
  const { code, stderr, ill, of } = await examine(server.url)
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  expect(ill).toEqual(['memory: warning', 'persistence: warning'])
  expect(of('memory').change).toMatch(/^maxmemory \d+mb\nmaxmemory-policy volatile-lru$/)
  expect(of('persistence').change).toContain('stop-writes-on-bgsave-error no')
  expect(of('permissions').found).toBe('default may do all that a cache does (26 commands)')
  expect(of('processes').result).toBe('unknown')
  expect(await server.ask('DBSIZE')).toBeLessThanOrEqual(2)

  const text = await runCommand(['doctor', '--redis', server.url, '-n', 'shop'], {
    env: { NO_COLOR: '1' },
  })
  expect(text.stdout).toMatch(/^ok +version +(Redis|Valkey) \d/m)
  expect(text.stdout).toMatch(/^warning +memory .*\n +why: .*\n +change: maxmemory/m)
})

it('a limit with allkeys-lru is a problem, with volatile-lru it is none', async () => {
  const server = await start({
    args: ['--maxmemory', '100mb', '--maxmemory-policy', 'allkeys-lru'],
  })
  const evicting = await examine(server.url)
  expect(evicting).toMatchObject({ code: 1, ill: ['eviction: problem'] })
  expect(evicting.of('eviction').change).toBe('maxmemory-policy volatile-lru')
  await server.ask('CONFIG', 'SET', 'maxmemory-policy', 'volatile-lru')
  expect(await examine(server.url)).toMatchObject({ code: 0, ill: [] })
  await server.ask('CONFIG', 'SET', 'maxmemory-policy', 'noeviction')
  expect((await examine(server.url)).ill).toEqual(['eviction: warning'])
})

it('a narrow ACL lacks by name what it lacks, and the rule that is given repairs it', async () => {
  const server = await start({
    args: ['--maxmemory', '100mb', '--maxmemory-policy', 'volatile-lru'],
  })
  await server.ask(
    'ACL',
    'SETUSER',
    'app',
    'on',
    '>pw',
    '~bw:shop:*',
    'resetchannels',
    '+@read',
    '+@write',
    '+ping',
    '+evalsha',
    '-zadd',
  )
  const url = server.url.replace('//', '//app:pw@')
  const narrow = await examine(url)
  expect(narrow.code).toBe(1)
  const { result, found, change } = narrow.of('permissions')
  expect(result).toBe('problem')
  expect(found).toBe(
    'app lacks &bw:shop:* +zadd +time +info +eval +publish +subscribe +unsubscribe',
  )
  expect(narrow.of('scripting').result).toBe('problem')
  expect(narrow.of('bus').result).toBe('problem')
  // What may not be asked is not held against the server.
  expect(narrow.of('version').result).toBe('unknown')

  expect(change).toBe(`ACL SETUSER ${found.replace('app lacks', 'app')}`)
  await server.ask(...(change!.split(' ') as [string]))
  const repaired = await examine(url)
  expect(repaired).toMatchObject({ code: 0 })
  expect(repaired.of('permissions').result).toBe('ok')

  await server.ask('ACL', 'SETUSER', 'other', 'on', '>pw', '~bw:other:*', '&bw:other:*', '+@all')
  const others = await examine(server.url.replace('//', '//other:pw@'))
  expect(others.of('permissions').change).toBe('ACL SETUSER other ~bw:shop:* &bw:shop:*')
})

it('a replica is found, and so are buffers, idle times and counts of replicas that are set too narrow', async () => {
  const master = await start({
    args: [
      '--maxmemory',
      '100mb',
      '--maxmemory-policy',
      'volatile-lru',
      '--min-replicas-to-write',
      '3',
      '--client-output-buffer-limit',
      'pubsub 32kb 8kb 60',
      '--timeout',
      '5',
    ],
  })
  const sick = await examine(master.url)
  expect(sick.ill).toEqual([
    'replication: problem',
    'connections: warning',
    'output buffers: warning',
  ])

  const replica = await start({
    args: [
      '--replicaof',
      '127.0.0.1',
      String(master.port),
      '--maxmemory',
      '100mb',
      '--maxmemory-policy',
      'volatile-lru',
    ],
  })
  const found = await examine(replica.url)
  expect(found).toMatchObject({ code: 1, ill: ['role: problem'] })
  expect(found.of('role').found).toContain(`a replica of 127.0.0.1:${master.port}`)
})
