// Starts processes of test/workers/bullmq.mjs, speaks with them, and reads what their loaders wrote.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Redis } from 'ioredis'

const program = fileURLToPath(new URL('../workers/bullmq.mjs', import.meta.url))

export interface FleetOptions {
  readonly port: number
  readonly queuePort?: number
  /** For `createCache`. */
  readonly cacheOptions?: object
  /** For `define`; of a function of arguments, what it gives is `precompute.functionArgs`. */
  readonly definition: object
  /** For `bullmqPrecompute`. */
  readonly jobs?: object
  readonly loader?: { readonly ms?: number }
  /** Knows nothing of BullMQ. */
  readonly bystander?: boolean
}

export interface Load {
  readonly at: number
  readonly pid: number
  readonly reason: string
}

export interface Told {
  readonly event: string
  readonly kind?: string
  readonly at?: number
  readonly [name: string]: unknown
}

export class QueueProcess {
  readonly #child: ChildProcess
  readonly #open = new Map<number, (message: { result?: unknown; error?: string }) => void>()
  readonly loads: { readonly arg: string; readonly run: number }[] = []
  onLoading: ((arg: string) => void) | undefined
  #sent = 0

  constructor(child: ChildProcess) {
    this.#child = child
    child.on('message', (message: { type: string; id: number; arg: string; run: number }) => {
      if (message.type === 'loading') {
        this.loads.push(message)
        this.onLoading?.(message.arg)
      }
      if (message.type === 'done') this.#open.get(message.id)?.(message as never)
    })
  }

  get pid(): number {
    return this.#child.pid!
  }

  call<T>(command: string, args: object = {}): Promise<T> {
    const id = ++this.#sent
    return new Promise<T>((resolve, reject) => {
      this.#open.set(id, ({ result, error }) => {
        this.#open.delete(id)
        if (error === undefined) resolve(result as T)
        else reject(new Error(error))
      })
      this.#child.send({ id, command, ...args })
    })
  }

  events(): Promise<Told[]> {
    return this.call('events')
  }

  async kill(): Promise<void> {
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }

  /** Its exit code, or the signal that ended it. */
  async stop(): Promise<number | string | null> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) {
      return this.#child.exitCode ?? this.#child.signalCode
    }
    const gone = once(this.#child, 'exit')
    if (this.#child.connected) this.call('close').catch(() => {})
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), 10_000)
    const [code, signal] = (await gone) as [number | null, string | null]
    clearTimeout(timer)
    return code ?? signal
  }
}

const running = new Set<QueueProcess>()

export async function startProcesses(size: number, options: FleetOptions): Promise<QueueProcess[]> {
  const children = Array.from({ length: size }, () =>
    fork(program, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  )
  return Promise.all(
    children.map(async (child) => {
      const one = new QueueProcess(child)
      running.add(one)
      await new Promise<void>((resolve) => {
        child.on('message', ({ type }: { type: string }) => {
          if (type === 'ready') resolve()
        })
      })
      return one
    }),
  )
}

export async function stopProcesses(): Promise<void> {
  const all = [...running]
  running.clear()
  await Promise.all(all.map((one) => one.stop()))
}

export async function loadsOf(admin: Redis, arg: string): Promise<Load[]> {
  const texts = await admin.lrange(`ledger:${arg}`, 0, -1)
  return texts.map((text) => JSON.parse(text) as Load)
}
