// The processes of one contender: forked, ordered about, ended. An order is sent to all or to some,
// and is done when each of these has replied; a worker that dies or fails ends the benchmark.

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Order, Reply, WorkerSettings } from './messages.ts'

const worker = fileURLToPath(new URL('./worker.js', import.meta.url))

export interface Fleet {
  /** To all. */
  order(order: Order): Promise<Reply[]>
  /** To the first one alone. */
  orderFirst(order: Order): Promise<Reply>
  stop(): Promise<void>
}

export async function startFleet(settings: WorkerSettings, size: number): Promise<Fleet> {
  const children = Array.from({ length: size }, () => fork(worker))
  const order = (it: Order): Promise<Reply[]> =>
    Promise.all(children.map((child) => ask(child, it)))
  const kill = (): void => children.forEach((child) => child.kill('SIGKILL'))
  try {
    await order({ kind: 'start', settings })
  } catch (error) {
    kill()
    throw error
  }
  return {
    order,
    orderFirst: async (it) => {
      const [first] = children
      if (first === undefined) throw new Error('expected a fleet of at least one')
      return ask(first, it)
    },
    stop: async () => {
      await order({ kind: 'stop' }).finally(kill)
    },
  }
}

function ask(child: ChildProcess, order: Order): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const fail = (reason: string): void => {
      clearTimeout(timer)
      reject(new Error(`a worker ${reason} at '${order.kind}'`))
    }
    const timer = setTimeout(() => fail('gave no reply within 60 s'), 60_000)
    const ended = (code: number | null): void => fail(`ended with ${code}`)
    child.once('exit', ended)
    child.once('message', (message: Reply) => {
      clearTimeout(timer)
      child.off('exit', ended)
      if (message.kind === 'failed') fail(`failed: ${message.reason}`)
      else resolve(message)
    })
    child.send(order)
  })
}
