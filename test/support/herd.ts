// Starts herd processes (test/workers/herd.mjs) and speaks with them.

import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

const program = fileURLToPath(new URL('../workers/herd.mjs', import.meta.url))

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
  readonly #child: ChildProcess
  readonly #open = new Map<number, (message: { result?: unknown; error?: string }) => void>()
  #sent = 0
  /** Loads that began in this process. */
  readonly loads: { readonly key: string; readonly run: number; readonly reason: string }[] = []
  onLoading: (() => void) | undefined

  constructor(child: ChildProcess) {
    this.#child = child
    child.on(
      'message',
      (message: { type: string; id: number; key: string; run: number; reason: string }) => {
        if (message.type === 'loading') {
          this.loads.push(message)
          this.onLoading?.()
        }
        if (message.type === 'done') this.#open.get(message.id)?.(message as never)
      },
    )
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

  get(key: string, callers: number, call?: object): Promise<Answered[]> {
    return this.call('get', { key, callers, call })
  }

  kill(): void {
    this.#child.kill('SIGKILL')
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

export async function startHerd(size: number, options: HerdOptions): Promise<Member[]> {
  const children = Array.from({ length: size }, () =>
    fork(program, [JSON.stringify(options)], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] }),
  )
  return Promise.all(
    children.map(async (child) => {
      await once(child, 'message')
      return new Member(child)
    }),
  )
}
