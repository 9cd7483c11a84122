// Forks the generator, gives it its order and resolves with every answer that came. It is forked
// while the fleet starts: one that is not there when the load begins would send its first requests late.

import type { ChildProcess } from 'node:child_process'
import { forkSession } from '../run/fork-session.ts'
import type { Answer, LoadOrder, LoadReport } from './messages.ts'

export type LoadProgress = Extract<LoadReport, { kind: 'progress' }>

export function forkGenerator(signal: AbortSignal): ChildProcess {
  const child = forkSession(new URL('./generator.js', import.meta.url), signal)
  child.on('error', () => undefined) // interrupted before it had an order
  return child
}

export function applyLoad(
  child: ChildProcess,
  order: LoadOrder,
  progress: (state: LoadProgress) => void,
): Promise<readonly Answer[]> {
  return new Promise((resolve, reject) => {
    child.on('message', (report: LoadReport) => {
      if (report.kind === 'progress') progress(report)
      else {
        resolve(report.answers)
        child.disconnect()
      }
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${String(code)}`)))
    child.send(order)
  })
}
