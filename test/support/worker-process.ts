// A process of test/workers that answers commands (test/workers/answering.mjs) and tells of what happens.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** What it tells by itself, by `type`. */
export type Told = { readonly type: string } & Record<string, unknown>

interface Answer {
  readonly result?: unknown
  readonly error?: string
}

export class WorkerProcess {
  readonly #child: ChildProcess
  readonly #open = new Map<number, { readonly command: string; end(answer: Answer): void }>()
  #sent = 0

  constructor(child: ChildProcess, onTold: (told: Told) => void) {
    this.#child = child
    child.on('message', (told: Told) => {
      if (told.type === 'done') this.#open.get(told['id'] as number)?.end(told as Answer)
      else onTold(told)
    })
    child.once('exit', () => {
      onTold({ type: 'exit' })
      for (const { end } of this.#open.values()) end({ error: 'the process has ended' })
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  call<T>(command: string, args: object = {}): Promise<T> {
    const id = ++this.#sent
    const answer = new Promise<T>((resolve, reject) => {
      const end = ({ result, error }: Answer): void => {
        this.#open.delete(id)
        if (error === undefined) resolve(result as T)
        else reject(new Error(`${command}: ${error}`))
      }
      this.#open.set(id, { command, end })
      this.#child.send({ id, command, ...args })
    })
    // Who kills a process need not care for what it was asked.
    answer.catch(() => {})
    return answer
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#child.kill(name)
  }

  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }

  /** Its exit code, or the signal that ended it. */
  async stop(): Promise<number | string | null> {
    const { exitCode, signalCode } = this.#child
    if (exitCode !== null || signalCode !== null) return exitCode ?? signalCode
    const gone = once(this.#child, 'exit')
    if (this.#child.connected) this.call('close').catch(() => {})
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    const [code, signal] = (await gone) as [number | null, string | null]
    clearTimeout(timer)
    return code ?? signal
  }
}

/** `program`: a file of test/workers. Resolves when it says that it is ready; rejects when it ends before. */
export async function startWorker(
  program: string,
  plan: object,
  onTold: (told: Told) => void = () => {},
): Promise<WorkerProcess> {
  const path = fileURLToPath(new URL(`../workers/${program}`, import.meta.url))
  const child = fork(path, [JSON.stringify(plan)], {
    execArgv: ['--unhandled-rejections=strict'],
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  return new Promise((resolve, reject) => {
    const worker = new WorkerProcess(child, (told) => {
      if (told.type === 'ready') resolve(worker)
      if (told.type === 'exit') reject(new Error(`${program} has ended`))
      onTold(told)
    })
  })
}
