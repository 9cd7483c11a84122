// The processes of one contender: forked, ordered about, ended. An order is done when each process
// has replied; a worker that dies, fails or does not reply in time rejects it, and the fleet is
// killed by whoever started it.

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nextReply } from '../child/reply.ts'
import type { Answers, Order, Reply, WorkerSettings } from './messages.ts'

const worker = fileURLToPath(new URL('./worker.js', import.meta.url))

/** To start is not the cache's business alone: a busy machine takes long for sixteen processes. */
const limitMsOf = ({ kind }: Order): number => (kind === 'start' ? 120_000 : 30_000)

export interface Fleet {
  /** To all. */
  order(order: Order): Promise<Reply[]>
  /** To the first one alone. */
  orderFirst(order: Order): Promise<Reply>
  /** An order to all that is answered with latencies: of all together. */
  measure(order: Order): Promise<Answers>
}

/** Starts a fleet, has it used, and ends it whatever happened. */
export async function withFleet<Result>(
  settings: WorkerSettings,
  size: number,
  use: (fleet: Fleet) => Promise<Result>,
): Promise<Result> {
  const children = Array.from({ length: size }, () =>
    fork(worker, { stdio: ['ignore', 2, 2, 'ipc'] }),
  )
  const order = (it: Order): Promise<Reply[]> =>
    Promise.all(children.map((child) => ask(child, it)))
  try {
    await order({ kind: 'start', settings })
    const result = await use({
      order,
      orderFirst: async (it) => {
        const [first] = children
        if (first === undefined) throw new Error('expected a fleet of at least one')
        return ask(first, it)
      },
      measure: async (it) => together(await order(it)),
    })
    await order({ kind: 'stop' })
    return result
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

function together(replies: readonly Reply[]): Answers {
  const answers = replies.filter((reply) => reply.kind === 'answers')
  return {
    kind: 'answers',
    latencies: answers.flatMap(({ latencies }) => latencies),
    errors: answers.flatMap(({ errors }) => errors),
    cpuMs: answers.reduce((sum, { cpuMs }) => sum + cpuMs, 0),
  }
}

function ask(child: ChildProcess, order: Order): Promise<Reply> {
  const reply = nextReply<Reply>(child, { limitMs: limitMsOf(order), order: order.kind })
  child.send(order)
  return reply
}
