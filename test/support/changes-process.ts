// Starts processes that capture (test/workers/postgres-changes.mjs) and speaks with them.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Health } from '../../src/index.ts'

const program = fileURLToPath(new URL('../workers/postgres-changes.mjs', import.meta.url))

export interface ChangesPlan {
  readonly redis: string
  readonly connection: object
  readonly mode: 'notify' | 'replication'
  readonly name: string
  readonly ids: readonly number[]
  readonly readers: number
  readonly heartbeat: string
}

export interface Found {
  readonly reads: number
  readonly errors: readonly string[]
  readonly gaps: readonly string[]
  readonly states: readonly string[]
}

export class ChangesProcess {
  readonly #child: ChildProcess
  readonly #open = new Map<number, (message: { result?: unknown; error?: string }) => void>()
  #sent = 0
  state = 'connecting'

  private constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message: { type: string; id: number; state: string }) => {
      if (message.type === 'state') this.state = message.state
      if (message.type === 'done') this.#open.get(message.id)?.(message as never)
    })
    child.once('exit', () => {
      this.state = 'dead'
      for (const end of this.#open.values()) end({ error: 'the process has ended' })
    })
  }

  static async start(plan: ChangesPlan): Promise<ChangesProcess> {
    const child = fork(program, [JSON.stringify(plan)], {
      execArgv: ['--unhandled-rejections=strict'],
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    const process = new ChangesProcess(child)
    await new Promise<void>((resolve, reject) => {
      child.once('exit', () => reject(new Error('the process has ended')))
      child.on('message', ({ type }: { type: string }) => {
        if (type === 'ready') resolve()
      })
    })
    return process
  }

  call<T>(command: string, args: object = {}): Promise<T> {
    const id = ++this.#sent
    return new Promise<T>((resolve, reject) => {
      this.#open.set(id, ({ result, error }) => {
        this.#open.delete(id)
        if (error === undefined) resolve(result as T)
        else reject(new Error(`${command}: ${error}`))
      })
      this.#child.send({ id, command, ...args })
    })
  }

  health(): Promise<Health> {
    return this.call('health')
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const gone = once(this.#child, 'exit')
    if (this.#child.connected) this.call('close').catch(() => {})
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    await gone
    clearTimeout(timer)
  }
}
