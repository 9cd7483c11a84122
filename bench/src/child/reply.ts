// The next message of a process that answers more than once: one that dies, hangs or tells of a
// failure costs the question its answer, with the reason in words for a table.

import type { ChildProcess } from 'node:child_process'

interface Failed {
  readonly kind: 'failed'
  readonly reason: string
}

export interface Expected {
  readonly limitMs: number
  /** What it was asked for, where that says more. */
  readonly order?: string
}

export function nextReply<Reply extends { readonly kind: string }>(
  child: ChildProcess,
  { limitMs, order }: Expected,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer)
      child.off('exit', ended).off('message', hear)
    }
    const fail = (reason: string): void => {
      stop()
      reject(new Error(order === undefined ? reason : `${order}: ${reason}`))
    }
    const late = `no reply within ${limitMs / 1_000} s`
    const timer = setTimeout(() => fail(late), limitMs)
    const ended = (code: number | null, signal: string | null): void =>
      fail(`a process ended (${code ?? signal})`)
    const hear = (message: Reply | Failed): void => {
      if (isFailed(message)) return fail(message.reason)
      stop()
      resolve(message)
    }
    child.once('exit', ended).once('message', hear)
  })
}

function isFailed(message: { readonly kind: string }): message is Failed {
  return message.kind === 'failed'
}
