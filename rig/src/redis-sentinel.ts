// A private master with its replicas and the sentinels that watch over them, on loopback.

import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectory } from './directory.ts'
import { waitFor } from './patience.ts'
import {
  startServer,
  syncAtOnce,
  usualArgs,
  type Address,
  type RedisServer,
} from './redis-server.ts'

export interface RedisSentinelOptions {
  /** Default: 2. */
  replicas?: number
  /** Default: 3, of which 2 must agree that the master is down. */
  sentinels?: number
  /** Of the servers' default user; the sentinels have none. Default: none. */
  password?: string
  /** Silence after which a server counts as down. Default: 1000. */
  downAfterMs?: number
  /** More arguments for master and replicas. */
  args?: readonly string[]
}

export interface RedisSentinel {
  /** For `new Redis({ sentinels, name })`. */
  readonly sentinels: readonly { host: string; port: number }[]
  readonly name: string
  /** The one that was the master at first comes first. */
  readonly servers: readonly RedisServer[]
  readonly sentinelServers: readonly RedisServer[]
  /** As every sentinel that answers says. */
  master(): Promise<RedisServer>
  /** SENTINEL FAILOVER; resolves with the new master when every sentinel that answers knows it. */
  failOver(): Promise<RedisServer>
  /** Resolves with the new master when every sentinel that answers names another than `old`. */
  successorOf(old: RedisServer): Promise<RedisServer>
  /** Resolves when the sentinels know each other and every server, and the replicas are in sync. */
  settled(): Promise<void>
  stop(): Promise<void>
}

const name = 'main'

export async function startRedisSentinel(
  options: RedisSentinelOptions = {},
): Promise<RedisSentinel> {
  const { replicas = 2, sentinels = 3 } = options
  const directory = makeDirectory()
  const all: RedisServer[] = []
  const stop = async () => {
    await Promise.all(all.map((server) => server.stop()))
    await directory.remove()
  }
  const startMany = async (count: number, start: () => Promise<RedisServer>) => {
    const started = await Promise.allSettled(Array.from({ length: count }, start))
    all.push(...started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])))
    return started.map((one) => {
      if (one.status === 'rejected') throw one.reason
      return one.value
    })
  }
  try {
    const servers = await startMany(1 + replicas, () => startData(options, directory.path))
    const [master] = servers
    for (const replica of servers.slice(1))
      await replica.ask('REPLICAOF', '127.0.0.1', master!.port)
    const watching = () => startWatching(options, directory.path, master!.port)
    const sentinelServers = await startMany(sentinels, watching)
    const made = sentinelOf(servers, sentinelServers, stop)
    await made.settled()
    return made
  } catch (error) {
    await stop()
    throw error
  }
}

function startData(options: RedisSentinelOptions, directory: string): Promise<RedisServer> {
  const { password, args = [] } = options
  return startServer({
    listen: 'tcp',
    ports: [15_000, 32_000],
    password,
    args: (address) => [...usualArgs(address, directory, password), ...syncAtOnce, ...args],
  })
}

function startWatching(
  { password, downAfterMs = 1_000 }: RedisSentinelOptions,
  directory: string,
  masterPort: number,
): Promise<RedisServer> {
  const args = (address: Address) => {
    const port = 'port' in address ? address.port : 0
    const file = join(directory, `sentinel-${port}.conf`)
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      'daemonize no',
      `dir ${directory}`,
      `sentinel monitor ${name} 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds ${name} ${downAfterMs}`,
      // Twice this lies between two failovers.
      `sentinel failover-timeout ${name} 2000`,
      ...(password === undefined ? [] : [`sentinel auth-pass ${name} ${password}`]),
    ]
    // A sentinel keeps what it has learnt in this file: a restarted one goes on from there.
    if (!existsSync(file)) writeFileSync(file, `${lines.join('\n')}\n`)
    return [file, '--sentinel']
  }
  return startServer({ listen: 'tcp', ports: [15_000, 32_000], args })
}

function sentinelOf(
  servers: readonly RedisServer[],
  sentinelServers: readonly RedisServer[],
  stop: () => Promise<void>,
): RedisSentinel {
  const told = async () => {
    const asked = sentinelServers.map((one) => one.ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', name))
    const answers = await Promise.allSettled(asked)
    const ports = answers.flatMap((one) =>
      one.status === 'fulfilled' && Array.isArray(one.value) ? [Number(one.value[1])] : [],
    )
    if (new Set(ports).size !== 1) return undefined
    return servers.find(({ port }) => port === ports[0])
  }
  const master = () => waitFor('the sentinels to agree on a master', told)
  const successorOf = (old: RedisServer) =>
    waitFor('the sentinels to agree on another master', async () => {
      const found = await told()
      // The sentinels may know before the server does.
      const role = found === undefined || found === old ? [] : await found.ask('ROLE')
      return Array.isArray(role) && role[0] === 'master' ? found : undefined
    })

  return {
    sentinels: sentinelServers.map(({ port }) => ({ host: '127.0.0.1', port })),
    name,
    servers,
    sentinelServers,
    master,
    successorOf,
    failOver: async () => {
      const old = await master()
      // INPROG, NOGOODSLAVE: a moment later it may.
      await waitFor('a sentinel to begin the failover', () =>
        sentinelServers[0]!.ask('SENTINEL', 'FAILOVER', name),
      )
      return successorOf(old)
    },
    settled: async () => {
      await waitFor('sentinels and servers to know each other', async () => {
        const running = await alive(servers)
        const watching = await alive(sentinelServers)
        for (const one of watching) {
          const about = (await one.ask('SENTINEL', 'MASTER', name)) as readonly string[]
          const field = (key: string) => about[about.indexOf(key) + 1]
          if (Number(field('num-slaves')) < running.length - 1) return undefined
          if (Number(field('num-other-sentinels')) < watching.length - 1) return undefined
          if (field('flags') !== 'master') return undefined
        }
        const roles = await Promise.all(running.map((one) => one.ask('ROLE')))
        const inSync = roles.filter((role) => Array.isArray(role) && role[3] === 'connected')
        return inSync.length === running.length - 1 || undefined
      })
    },
    stop,
  }
}

async function alive(servers: readonly RedisServer[]): Promise<RedisServer[]> {
  const answers = await Promise.allSettled(servers.map((server) => server.ask('PING')))
  return servers.filter((_, n) => answers[n]?.status === 'fulfilled')
}
