// A private redis-server (or valkey-server) on a free loopback port or a unix socket. It keeps
// nothing on disk and ends with this process, however that ends: the server's parent is a small
// shell that waits for the end of its stdin, which the kernel closes when we die, SIGKILL included.
// Its ports lie below the ephemeral range, so that no client takes one while the server is down.

import { spawn, type ChildProcess } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'
import { accessSync, constants } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'

export interface RedisServerOptions {
  /** Default: `'tcp'`. */
  listen?: 'tcp' | 'socket'
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

interface Running {
  readonly pid: number
  readonly keeper: ChildProcess
}

type Address = { port: number } | { path: string }

// $1: the socket to remove, or empty; the rest: the command.
const keeperScript =
  'socket=$1; shift; "$@" & pid=$!; echo "pid $pid"; read -r _; ' +
  'kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null; [ -z "$socket" ] || rm -f "$socket"'

/** Starts a server and resolves when it accepts connections. */
export async function startRedisServer(options: RedisServerOptions = {}): Promise<RedisServer> {
  const program = findServerProgram()
  if (program === undefined) {
    throw new Error('expected redis-server or valkey-server on the PATH, found neither')
  }
  const launch = (address: Address) => start(program, address, options.args ?? [])
  const { address, running } = await settle(options.listen ?? 'tcp', launch)
  let current: Running | undefined = running
  let pid = running.pid

  const kill = async () => {
    const ending = current
    current = undefined
    if (ending !== undefined) await end(ending)
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT') => {
    if (current !== undefined) process.kill(current.pid, name)
  }
  return {
    url: 'path' in address ? address.path : `redis://127.0.0.1:${address.port}`,
    connection: 'path' in address ? address : { host: '127.0.0.1', port: address.port },
    port: 'path' in address ? 0 : address.port,
    get pid() {
      return pid
    },
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

/** BREAKWATER_REDIS_SERVER (a path, or `none`), else the first one on the PATH. */
export function findServerProgram(): string | undefined {
  const chosen = process.env['BREAKWATER_REDIS_SERVER']
  if (chosen === 'none') return undefined
  if (chosen !== undefined && chosen !== '') return chosen
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return true
      } catch {
        return false
      }
    })
}

async function settle(
  listen: 'tcp' | 'socket',
  launch: (address: Address) => Promise<Running>,
): Promise<{ address: Address; running: Running }> {
  if (listen === 'socket') {
    const address = { path: join(tmpdir(), `breakwater-${randomBytes(8).toString('hex')}.sock`) }
    return { address, running: await launch(address) }
  }
  for (let attempt = 1; ; attempt += 1) {
    const address = { port: randomInt(15_000, 32_000) }
    try {
      return { address, running: await launch(address) }
    } catch (error) {
      if (attempt === 5) throw error
    }
  }
}

function start(program: string, address: Address, args: readonly string[]): Promise<Running> {
  const socket = 'path' in address ? address.path : ''
  const listen = 'path' in address ? ['0', '--unixsocket', socket] : [String(address.port)]
  const quiet = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', tmpdir()]
  const command = [program, '--port', ...listen, ...quiet, '--daemonize', 'no', ...args]
  const keeper = spawn('sh', ['-c', keeperScript, 'sh', socket, ...command], {
    detached: true, // its own group: a Ctrl-C in the terminal ends it through us, after our own end
    stdio: ['pipe', 'pipe', 'pipe'],
  })

  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (reason: string) => {
      clearTimeout(timer)
      keeper.stdin.end()
      reject(new Error(`${program} ${reason}: ${output.slice(-1_000)}`))
    }
    const timer = setTimeout(() => fail('was not ready within 10 s'), 10_000)
    const read = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-8_000)
      const pid = /^pid (\d+)$/m.exec(output)?.[1]
      if (/Ready to accept connections|server is now ready/i.test(output) && pid !== undefined) {
        clearTimeout(timer)
        for (const stream of [keeper.stdout, keeper.stderr]) stream.off('data', read).resume()
        keeper.off('exit', ended)
        resolve({ pid: Number(pid), keeper })
      } else if (/Failed listening|FATAL CONFIG FILE ERROR|# Fatal/i.test(output)) {
        fail('did not start')
      }
    }
    const ended = () => fail('ended at once')
    keeper.stdout.on('data', read)
    keeper.stderr.on('data', read)
    keeper.stdin.on('error', () => {})
    keeper.once('error', (error) => fail(error.message))
    keeper.once('exit', ended)
    unref(keeper)
  })
}

function end({ keeper }: Running): Promise<void> {
  return new Promise((resolve) => {
    if (keeper.exitCode !== null || keeper.signalCode !== null) return resolve()
    keeper.ref()
    keeper.once('exit', () => resolve())
    keeper.stdin?.end()
  })
}

// A forgotten server must not keep its process alive: it ends with it anyway.
function unref(keeper: ChildProcess): void {
  keeper.unref()
  for (const stream of [keeper.stdin, keeper.stdout, keeper.stderr]) {
    if (stream !== null && 'unref' in stream && typeof stream.unref === 'function') stream.unref()
  }
}
