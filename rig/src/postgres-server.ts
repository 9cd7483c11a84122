// A private PostgreSQL on a free loopback port, which ends with this process and leaves nothing.
// PostgreSQL refuses to run as root: there it runs as `postgres`, or as `nobody`. It trusts everybody
// and never waits for the disk; a kill loses nothing all the same, since the machine lives on.

import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync } from 'node:fs'
import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import { makeDirectory } from './directory.ts'
import { findPostgres } from './postgres-program.ts'

export interface PostgresServerOptions {
  /** More settings: `{ max_slot_wal_keep_size: '64MB' }`. */
  settings?: Readonly<Record<string, string | number>>
}

export interface PostgresServer {
  /** For `new Client(…)`: the superuser `postgres`, database `postgres`. */
  readonly connection: { host: string; port: number; user: string; database: string }
  readonly port: number
  /** Ends it for good. */
  stop(): Promise<void>
  /** SIGKILL to all of its processes. `start` recovers what was committed. */
  kill(): Promise<void>
  start(): Promise<void>
  /** SIGSTOP to all of its processes: connections stay open and nothing answers. */
  freeze(): void
  thaw(): void
}

const settings = {
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'logical',
  max_connections: 60,
  max_wal_senders: 30,
  max_replication_slots: 60,
  shared_buffers: '32MB',
  min_wal_size: '32MB',
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  dynamic_shared_memory_type: 'mmap',
  autovacuum: 'off',
}

// $1: the server's program; the rest: its arguments. Its children live in sessions of their own.
const keeperScript =
  'program=$1; shift; "$program" "$@" 2>&1 & pid=$!; echo "pid $pid"; read -r _; ' +
  'kill -9 $(pgrep -P $pid) $pid 2>/dev/null; wait $pid 2>/dev/null'

/** Starts a server and resolves when it accepts connections. */
export async function startPostgresServer(
  options: PostgresServerOptions = {},
): Promise<PostgresServer> {
  const directory = makeDirectory()
  const programs = findPostgres(directory.path)
  if (programs === undefined) {
    throw new Error('expected PostgreSQL (initdb, postgres) on this machine, found none')
  }
  const data = join(directory.path, 'data')
  const user = process.getuid?.() === 0 ? unprivileged() : undefined
  const identity = user ?? {}
  mkdirSync(data, { mode: 0o700 })
  if (user !== undefined) {
    chmodSync(directory.path, 0o755)
    chownSync(data, user.uid, user.gid)
  }
  execFileSync(
    join(programs, 'initdb'),
    ['-D', data, '-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    { ...identity, cwd: directory.path, stdio: ['ignore', 'ignore', 'pipe'] },
  )
  const port = randomInt(15_000, 32_000)
  const all = { ...settings, ...options.settings }
  const args = ['-D', data, '-p', String(port)].concat(
    Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  )
  let running: Running | undefined
  const start = async (): Promise<void> => {
    running ??= await launch(join(programs, 'postgres'), args, identity, directory.path)
  }
  const kill = async (): Promise<void> => {
    const ending = running
    running = undefined
    if (ending !== undefined) await end(ending)
  }
  const signal = (name: 'SIGSTOP' | 'SIGCONT'): void => {
    if (running === undefined) return
    const pids = [running.pid, ...childrenOf(running.pid)]
    for (const pid of pids) {
      try {
        process.kill(pid, name)
      } catch {
        // It has ended meanwhile.
      }
    }
  }
  await start()
  return {
    connection: { host: '127.0.0.1', port, user: 'postgres', database: 'postgres' },
    port,
    start,
    kill,
    stop: async () => {
      signal('SIGCONT')
      await kill()
      await directory.remove()
    },
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
  }
}

interface Running {
  readonly pid: number
  readonly keeper: ChildProcess
}

function launch(
  program: string,
  args: readonly string[],
  identity: object,
  cwd: string,
): Promise<Running> {
  const keeper = spawn('sh', ['-c', keeperScript, 'sh', program, ...args], {
    ...identity,
    cwd,
    detached: true, // its own group: a Ctrl-C in the terminal ends it through us, after our own end
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  return new Promise((resolve, reject) => {
    let output = ''
    const fail = (reason: string): void => {
      clearTimeout(timer)
      keeper.stdin.end()
      reject(new Error(`${program} ${reason}: ${output.slice(-2_000)}`))
    }
    const timer = setTimeout(() => fail('was not ready within 30 s'), 30_000)
    const ended = (): void => fail('ended at once')
    const read = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-8_000)
      const pid = /^pid (\d+)$/m.exec(output)?.[1]
      if (pid === undefined) return
      if (/FATAL:.*(lock file|could not create any TCP)/.test(output)) return fail('did not start')
      if (!output.includes('database system is ready to accept connections')) return
      clearTimeout(timer)
      keeper.stdout.off('data', read).resume()
      keeper.off('exit', ended)
      resolve({ pid: Number(pid), keeper })
    }
    keeper.stdout.on('data', read)
    keeper.stdin.on('error', () => {})
    keeper.once('error', (error) => fail(error.message))
    keeper.once('exit', ended)
    keeper.unref()
    for (const stream of [keeper.stdin, keeper.stdout]) {
      if ('unref' in stream && typeof stream.unref === 'function') stream.unref()
    }
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

function childrenOf(pid: number): number[] {
  try {
    const said = execFileSync('pgrep', ['-P', String(pid)], { encoding: 'utf8' })
    return said.trim().split('\n').map(Number)
  } catch {
    return []
  }
}

function unprivileged(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string): number =>
        Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }))
      return { uid: id('-u'), gid: id('-g') }
    } catch {
      // The next one.
    }
  }
  throw new Error('expected a user `postgres` or `nobody` to run PostgreSQL as, found neither')
}
