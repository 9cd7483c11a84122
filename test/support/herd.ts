// Starts herd processes (test/workers/herd.mjs) and speaks with them.

import { startWorker, type WorkerProcess } from './worker-process.ts'

export interface HerdOptions {
  readonly url: string
  /** For `createCache`. */
  readonly options?: object
  /** For `define`. */
  readonly definition?: object
  readonly loader: { readonly ms: number; readonly fails?: boolean }
}

export interface Answered {
  readonly value?: { readonly key: string; readonly run: number; readonly source: string | null }
  readonly error?: { readonly name: string; readonly code?: string; readonly message: string }
  readonly ms: number
}

export class Member {
  readonly #worker: WorkerProcess
  /** Loads that began in this process. */
  readonly loads: { readonly key: string; readonly run: number; readonly reason: string }[]
  onLoading: (() => void) | undefined

  private constructor(worker: WorkerProcess, loads: Member['loads']) {
    this.#worker = worker
    this.loads = loads
  }

  static async start(options: HerdOptions): Promise<Member> {
    const loads: Member['loads'] = []
    const worker = await startWorker('herd.mjs', options, (told) => {
      if (told.type !== 'loading') return
      loads.push(told as never)
      member.onLoading?.()
    })
    const member = new Member(worker, loads)
    return member
  }

  get pid(): number {
    return this.#worker.pid
  }

  call<T>(command: string, args: object = {}): Promise<T> {
    return this.#worker.call(command, args)
  }

  get(key: string, callers: number, call?: object): Promise<Answered[]> {
    return this.call('get', { key, callers, call })
  }

  kill(): void {
    this.#worker.signal('SIGKILL')
  }

  async stop(): Promise<void> {
    await this.#worker.stop()
  }
}

export async function startHerd(size: number, options: HerdOptions): Promise<Member[]> {
  return Promise.all(Array.from({ length: size }, () => Member.start(options)))
}
