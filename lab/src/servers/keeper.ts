// A process of its own that owns the private PostgreSQL and its temporary folder. It lives in its
// own session, so Ctrl-C does not reach it; it ends, and takes everything with it, when the channel
// to its parent closes, for whatever reason: asked to stop, finished, interrupted or SIGKILLed.

import { type ChildProcess, spawn } from 'node:child_process'
import { chmod, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { KeeperReply } from './keeper-reply.ts'
import { preparePostgres } from './postgres.ts'

/** A server, how it says that it is ready, and the signal that ends it fast. */
export interface ServerCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly ready: RegExp
  readonly stop: NodeJS.Signals
  readonly identity?: { readonly uid: number; readonly gid: number } | undefined
}

const running = new Map<ChildProcess, NodeJS.Signals>()
let folder: string | undefined
let ending = false

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => void end())
process.on('disconnect', () => void end())
void begin()

async function begin(): Promise<void> {
  try {
    folder = await mkdtemp(join(await passableFolder(), 'breakwater-lab-'))
    await chmod(folder, 0o711) // the server may have to run as another user, and must pass through
    const socketDir = join(folder, 'socket')
    await serve(await preparePostgres(folder, socketDir, run))
    reply({ kind: 'ready', socketDir })
  } catch (error) {
    reply({ kind: 'failed', reason: error instanceof Error ? error.message : String(error) })
  }
}

/** The system's temporary folder, unless it is private to root and the server cannot be root. */
async function passableFolder(): Promise<string> {
  if (process.getuid?.() !== 0) return tmpdir()
  for (let folder = tmpdir(); ; folder = dirname(folder)) {
    if (((await stat(folder)).mode & 0o001) === 0) return '/tmp'
    if (folder === dirname(folder)) return tmpdir()
  }
}

function reply(message: KeeperReply): void {
  if (process.connected) process.send?.(message)
}

/** Runs a short command to its end. */
async function run(command: Omit<ServerCommand, 'ready' | 'stop'>): Promise<void> {
  const { child, output } = launch({ ...command, ready: /(?!)/, stop: 'SIGKILL' })
  const code = await new Promise((done) => child.once('close', done))
  if (code !== 0) throw new Error(`${command.file} ended with ${String(code)}: ${output()}`)
}

/** Starts a server; resolves when it accepts connections. */
function serve(command: ServerCommand): Promise<void> {
  const { child, output } = launch(command)
  return new Promise((resolve, reject) => {
    const look = (): void => void (command.ready.test(output()) && resolve())
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('close', (code) => {
      reject(new Error(`${command.file} ended with ${String(code)}: ${output()}`))
    })
  })
}

function launch(command: ServerCommand): { child: ChildProcess; output: () => string } {
  if (ending) throw new Error('the keeper is ending')
  const child = spawn(command.file, command.args, {
    cwd: folder,
    env: { PATH: process.env['PATH'], LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...command.identity,
  })
  let text = ''
  const keep = (chunk: Buffer): void => void (text = (text + chunk.toString()).slice(-4000))
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  child.once('error', (error) => (text += error.message))
  running.set(child, command.stop)
  child.once('close', () => running.delete(child))
  return { child, output: () => text.trim() }
}

async function end(): Promise<void> {
  if (ending) return
  ending = true
  await Promise.all(
    [...running].map(async ([child, signal]) => {
      const closed = new Promise((done) => child.once('close', done))
      child.kill(signal)
      const late = setTimeout(() => child.kill('SIGKILL'), 3000)
      await closed
      clearTimeout(late)
    }),
  )
  if (folder !== undefined) {
    await rm(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
  }
  process.exit(0)
}
