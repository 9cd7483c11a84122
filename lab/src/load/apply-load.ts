// Forks the generator, gives it its order and resolves with every answer that came.

import { forkSession } from '../run/fork-session.ts'
import type { Answer, LoadOrder, LoadReport } from './messages.ts'

export type LoadProgress = Extract<LoadReport, { kind: 'progress' }>

export function applyLoad(
  order: LoadOrder,
  signal: AbortSignal,
  progress: (state: LoadProgress) => void,
): Promise<readonly Answer[]> {
  const child = forkSession(new URL('./generator.js', import.meta.url), signal)
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
