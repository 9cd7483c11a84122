// The processes of one outage: forked, told what to do, ended whatever happened.

import { fork, type ChildProcess } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { nextReply } from '../child/reply.ts'
import { processes, type FromWorker, type Told, type ToWorker, type WorkerPlan } from './plan.ts'

const file = fileURLToPath(new URL('./worker.js', import.meta.url))
const limitMs = 120_000

export interface Crew {
  warm(): Promise<void>
  go(at: number, until: number): Promise<readonly Told[]>
}

export async function withCrew<Result>(
  plan: Omit<WorkerPlan, 'process'>,
  use: (crew: Crew) => Promise<Result>,
): Promise<Result> {
  const children = Array.from({ length: processes }, (_, process) =>
    fork(file, [JSON.stringify({ ...plan, process })], { stdio: ['ignore', 2, 2, 'ipc'] }),
  )
  const all = (order: ToWorker): Promise<FromWorker[]> =>
    Promise.all(
      children.map((child) => {
        const answer = reply(child)
        child.send(order)
        return answer
      }),
    )
  try {
    await Promise.all(children.map(reply))
    return await use({
      warm: async () => void (await all({ kind: 'warm' })),
      go: async (at, until) => {
        const replies = await all({ kind: 'go', at, until })
        return replies.flatMap((it) => (it.kind === 'told' ? [it.told] : []))
      },
    })
  } finally {
    for (const child of children) child.kill('SIGKILL')
  }
}

function reply(child: ChildProcess): Promise<FromWorker> {
  return nextReply(child, { limitMs })
}
