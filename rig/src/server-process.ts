// A redis-server (or valkey-server, a sentinel, a prometheus) as a child that ends with this process,
// however that ends: the server's parent is a small shell that waits for the end of its stdin, which
// the kernel closes when we die, SIGKILL included.

import { spawn, type ChildProcess } from 'node:child_process'
import { delimiter, join } from 'node:path'
import { isProgram } from './is-program.ts'

export interface Running {
  readonly pid: number
  readonly keeper: ChildProcess
}

// $1: what to remove after the end, or empty; the rest: the command.
const keeperScript =
  'rest=$1; shift; "$@" & pid=$!; echo "pid $pid"; read -r _; ' +
  'kill -9 $pid 2>/dev/null; wait $pid 2>/dev/null; [ -z "$rest" ] || rm -f "$rest"'

/** BREAKWATER_REDIS_SERVER (a path, or `none`), else the first one on the PATH. */
export function findServerProgram(): string | undefined {
  const chosen = process.env['BREAKWATER_REDIS_SERVER']
  if (chosen === 'none') return undefined
  if (chosen !== undefined && chosen !== '') return chosen
  const folders = (process.env['PATH'] ?? '').split(delimiter).filter((folder) => folder !== '')
  return ['redis-server', 'valkey-server']
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find(isProgram)
}

/** Resolves when the server accepts connections. `socket`: a file of its, removed after its end. */
export function startProcess(args: readonly string[], socket = ''): Promise<Running> {
  const program = findServerProgram()
  if (program === undefined) {
    throw new Error('expected redis-server or valkey-server on the PATH, found neither')
  }
  return startProgram({
    program,
    args,
    socket,
    ready: /Ready to accept connections|server is now ready|Sentinel ID is/i,
    failed: /Failed listening|FATAL CONFIG FILE ERROR|# Fatal/i,
  })
}

/** Resolves when it says something like `ready`; rejects when it says something like `failed`. */
export function startProgram(of: {
  readonly program: string
  readonly args: readonly string[]
  readonly ready: RegExp
  readonly failed: RegExp
  readonly socket?: string
}): Promise<Running> {
  const { program, args, ready, failed, socket = '' } = of
  const keeper = spawn('sh', ['-c', keeperScript, 'sh', socket, program, ...args], {
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
      if (ready.test(output) && pid !== undefined) {
        clearTimeout(timer)
        for (const stream of [keeper.stdout, keeper.stderr]) stream.off('data', read).resume()
        keeper.off('exit', ended)
        resolve({ pid: Number(pid), keeper })
      } else if (failed.test(output)) {
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

/** SIGKILL. */
export function endProcess({ keeper }: Running): Promise<void> {
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
