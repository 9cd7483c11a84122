// One process as the coordinator sees it: it is ordered about, stopped, killed.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { Answer, News, Order, WorkerPlan } from './messages.ts'

const file = fileURLToPath(new URL('./worker.js', import.meta.url))

export class Member {
  readonly plan: WorkerPlan
  /** Called when its loader of a `read` begins. */
  onLoading: ((key: string) => void) | undefined
  readonly #child: ChildProcess
  readonly #open = new Map<number, (answer: Answer) => void>()
  #sent = 0

  private constructor(plan: WorkerPlan, child: ChildProcess) {
    this.plan = plan
    this.#child = child
    child.on('message', (message: Answer | News) => {
      if (message.kind === 'loading') this.onLoading?.(message.key)
      else if (message.kind !== 'ready') this.#open.get(message.id)?.(message)
    })
    child.on('exit', () => {
      for (const [id, settle] of this.#open) settle({ kind: 'failed', id, reason: 'it has ended' })
    })
  }

  static async start(plan: WorkerPlan): Promise<Member> {
    const child = fork(file, [JSON.stringify(plan)], {
      execArgv: ['--expose-gc'],
      stdio: ['ignore', 2, 2, 'ipc'],
    })
    const member = new Member(plan, child)
    const [message] = (await Promise.race([
      once(child, 'message'),
      once(child, 'exit').then(() => [undefined]),
    ])) as [News | undefined]
    if (message?.kind !== 'ready') throw new Error('a process ended before it was ready')
    return member
  }

  get pid(): number {
    return this.#child.pid!
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null
  }

  order<Result>(order: Order): Promise<Result> {
    const id = ++this.#sent
    return new Promise((resolve, reject) => {
      if (!this.isAlive) return reject(new Error(`${order.kind}: it has ended`))
      this.#open.set(id, (answer) => {
        this.#open.delete(id)
        if (answer.kind === 'done') resolve(answer.result as Result)
        else reject(new Error(`${order.kind}: ${answer.reason}`))
      })
      this.#child.send({ ...order, id })
    })
  }

  stop(): void {
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
  }

  async kill(): Promise<void> {
    if (!this.isAlive) return
    const gone = once(this.#child, 'exit')
    this.#child.kill('SIGKILL')
    await gone
  }
}
