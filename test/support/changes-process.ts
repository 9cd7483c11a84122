// Starts processes that capture (test/workers/postgres-changes.mjs) and speaks with them.

import type { Health } from '../../src/index.ts'
import { startWorker, type WorkerProcess } from './worker-process.ts'

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
  readonly #worker: WorkerProcess
  readonly #seen: { state: string }

  private constructor(worker: WorkerProcess, seen: { state: string }) {
    this.#worker = worker
    this.#seen = seen
  }

  static async start(plan: ChangesPlan): Promise<ChangesProcess> {
    const seen = { state: 'connecting' }
    const worker = await startWorker('postgres-changes.mjs', plan, (told) => {
      if (told.type === 'state') seen.state = told['state'] as string
      if (told.type === 'exit') seen.state = 'dead'
    })
    return new ChangesProcess(worker, seen)
  }

  get state(): string {
    return this.#seen.state
  }

  call<T>(command: string, args: object = {}): Promise<T> {
    return this.#worker.call(command, args)
  }

  health(): Promise<Health> {
    return this.call('health')
  }

  signal(name: 'SIGKILL' | 'SIGSTOP' | 'SIGCONT'): void {
    this.#worker.signal(name)
  }

  async stop(): Promise<void> {
    await this.#worker.stop()
  }
}
