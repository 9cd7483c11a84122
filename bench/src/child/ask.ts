// One question to one fresh process: a contender that throws, dies or hangs costs its own answer and
// no more. The process is killed when it has answered, or at its time limit.

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Answer } from './child.ts'

export interface Question {
  /** The child's file, as built: `new URL('./worker.js', import.meta.url)`. */
  readonly file: URL
  /** JSON data. */
  readonly plan: unknown
  readonly limitMs: number
}

/** Rejects with the reason, in words for a table. */
export function ask<Result>({ file, plan, limitMs }: Question): Promise<Result> {
  const child = fork(fileURLToPath(file), [JSON.stringify(plan)], {
    execArgv: ['--expose-gc'],
    stdio: ['ignore', 2, 2, 'ipc'],
  })
  const answer = new Promise<Answer<Result>>((resolve) => {
    const give = (told: Answer<Result>): void => {
      clearTimeout(timer)
      resolve(told)
    }
    const late = `no answer within ${limitMs / 1_000} s`
    const timer = setTimeout(() => give({ failed: late }), limitMs)
    child.once('message', (told: Answer<Result>) => give(told))
    child.once('exit', (code, signal) => give({ failed: `its process ended (${code ?? signal})` }))
    child.once('error', (error) => give({ failed: error.message }))
  })
  return answer.then((told) => {
    child.kill('SIGKILL')
    if ('failed' in told) throw new Error(told.failed)
    return told.done
  })
}
