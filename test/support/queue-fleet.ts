// Starts processes of test/workers/bullmq.mjs, speaks with them, and reads what their loaders wrote.

import type { Redis } from 'ioredis'
import { startWorker, type WorkerProcess } from './worker-process.ts'

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
  readonly #worker: WorkerProcess
  readonly loads: { readonly arg: string; readonly run: number }[]
  onLoading: ((arg: string) => void) | undefined

  private constructor(worker: WorkerProcess, loads: QueueProcess['loads']) {
    this.#worker = worker
    this.loads = loads
  }

  static async start(options: FleetOptions): Promise<QueueProcess> {
    const loads: QueueProcess['loads'] = []
    let one: QueueProcess | undefined
    const worker = await startWorker('bullmq.mjs', options, (told) => {
      if (told.type !== 'loading') return
      loads.push(told as never)
      one?.onLoading?.(told['arg'] as string)
    })
    one = new QueueProcess(worker, loads)
    return one
  }

  get pid(): number {
    return this.#worker.pid
  }

  call<T>(command: string, args: object = {}): Promise<T> {
    return this.#worker.call(command, args)
  }

  events(): Promise<Told[]> {
    return this.call('events')
  }

  kill(): Promise<void> {
    return this.#worker.kill()
  }

  /** Its exit code, or the signal that ended it. */
  stop(): Promise<number | string | null> {
    return this.#worker.stop()
  }
}

const running = new Set<QueueProcess>()

export async function startProcesses(size: number, options: FleetOptions): Promise<QueueProcess[]> {
  const begun = Array.from({ length: size }, async () => {
    const one = await QueueProcess.start(options)
    running.add(one)
    return one
  })
  return Promise.all(begun)
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
