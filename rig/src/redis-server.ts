// A private redis-server (or valkey-server) on a free loopback port or a unix socket, which ends
// with this process. It keeps nothing on disk. Its ports lie below the ephemeral range, so that no
// client takes one while the server is down.

import { randomBytes, randomInt } from 'node:crypto'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { logCommands, type CommandLog } from './command-log.ts'
import { ask, type Reply } from './resp.ts'
import { endProcess, startProcess, type Running } from './server-process.ts'

export interface RedisServerOptions {
  /** Default: `'tcp'`. */
  listen?: 'tcp' | 'socket'
  /** Of the default user. Default: none. */
  password?: string
  /** More arguments for the server: `['--maxmemory', '1mb']`. */
  args?: readonly string[]
}

export interface RedisServer {
  /** For `new Redis(url)`: `redis://127.0.0.1:<port>`, or the path of the socket. */
  readonly url: string
  /** For the options of a client. */
  readonly connection: { host: string; port: number } | { path: string }
  /** 0 when it listens on a socket. */
  readonly port: number
  /** Changes with every restart. */
  readonly pid: number
  /** One command over a connection of its own; texts as they are. Rejects on an error reply. */
  ask(...command: readonly (string | number)[]): Promise<Reply>
  /** Ends it for good. */
  stop(): Promise<void>
  /** SIGKILL: connections break, data is lost; `restart` brings it back, empty. */
  kill(): Promise<void>
  /** SIGSTOP: connections stay open and nothing answers. */
  freeze(): void
  /** SIGCONT. */
  thaw(): void
  /** Ends it if it runs and starts it again on the same address, empty. */
  restart(): Promise<void>
}

export type Address = { readonly port: number } | { readonly path: string }

export interface ServerPlan {
  readonly listen: 'tcp' | 'socket'
  /** From, and up to without. */
  readonly ports: readonly [number, number]
  readonly password?: string | undefined
  /** Called for each start. */
  args(address: Address): readonly string[]
}

/** Starts a server and resolves when it accepts connections. */
export function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const { listen = 'tcp', password, args = [] } = options
  return startServer({
    listen,
    ports: [15_000, 32_000],
    password,
    args: (address) => [...usualArgs(address, tmpdir(), password), ...args],
  })
}

/**
 * A replica need not wait for others that might want the same, and leaves no file behind: servers of
 * one directory would begin with each other's data.
 */
export const syncAtOnce =
  '--repl-diskless-sync yes --repl-diskless-sync-delay 0 --rdb-del-sync-files yes'.split(' ')

/** What every server of ours is started with. */
export function usualArgs(address: Address, directory: string, password?: string): string[] {
  const listen =
    'path' in address
      ? ['--port', '0', '--unixsocket', address.path]
      : ['--port', String(address.port)]
  const quiet = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--daemonize', 'no']
  const credentials =
    password === undefined ? [] : ['--requirepass', password, '--masterauth', password]
  const files = ['--dir', directory, '--dbfilename', `${'port' in address ? address.port : 0}.rdb`]
  return [...listen, ...quiet, ...files, ...credentials]
}

export async function startServer(plan: ServerPlan): Promise<RedisServer> {
  let log: CommandLog | undefined
  const launch = async (address: Address) => {
    const started = await startProcess(plan.args(address), 'path' in address ? address.path : '')
    log = await logCommands(connectionTo(address), plan.password)
    return started
  }
  const { address, running } = await settle(plan, launch)
  const connection = connectionTo(address)
  let current: Running | undefined = running
  let pid = running.pid

  const kill = async () => {
    const ending = current
    current = undefined
    if (ending === undefined) return
    const logged = log?.end()
    await endProcess(ending)
    await logged
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    if (current !== undefined) process.kill(current.pid, name)
  }
  return {
    url: 'path' in address ? address.path : `redis://127.0.0.1:${address.port}`,
    connection,
    port: 'path' in address ? 0 : address.port,
    get pid() {
      return pid
    },
    ask: async (...command) =>
      withoutLog(await ask(connection, command, { password: plan.password })),
    stop: kill,
    kill,
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    restart: async () => {
      await kill()
      current = await launch(address)
      pid = current.pid
    },
  }
}

/** A CLIENT LIST without the connection that keeps the log: it is nobody's. */
function withoutLog(reply: Reply): Reply {
  if (typeof reply !== 'string') return reply
  return reply.replaceAll(/^id=.* cmd=monitor .*\n/gm, '')
}

function connectionTo(address: Address): RedisServer['connection'] {
  return 'path' in address ? address : { host: '127.0.0.1', port: address.port }
}

async function settle(
  { listen, ports }: ServerPlan,
  launch: (address: Address) => Promise<Running>,
): Promise<{ address: Address; running: Running }> {
  if (listen === 'socket') {
    const address = { path: join(tmpdir(), `breakwater-${randomBytes(8).toString('hex')}.sock`) }
    return { address, running: await launch(address) }
  }
  for (let attempt = 1; ; attempt += 1) {
    const address = { port: randomInt(...ports) }
    try {
      return { address, running: await launch(address) }
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}
