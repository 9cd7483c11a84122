// Forks the generator, gives it its order and resolves with every answer that came. It is forked
// while the fleet starts: one that is not there when the load begins would send its first requests late.

import { forkSession } from '../run/fork-session.ts'
import type { Answer, LoadCommand, LoadOrder, LoadReport } from './messages.ts'

export type LoadProgress = Extract<LoadReport, { kind: 'progress' }>

export interface Generator {
  apply(order: LoadOrder, progress: (state: LoadProgress) => void): Promise<readonly Answer[]>
  /** Another process takes requests from now on. */
  addPort(port: number): void
  /** No more requests; who waits is still waited for. */
  end(): void
}

export function startGenerator(signal: AbortSignal): Generator {
  const child = forkSession(new URL('./generator.js', import.meta.url), signal)
  child.on('error', () => undefined) // interrupted before it had an order
  const tell = (command: LoadCommand): void => {
    if (child.connected) child.send(command, () => undefined)
  }
  return {
    apply: (order, progress) =>
      new Promise((resolve, reject) => {
        child.on('message', (report: LoadReport) => {
          if (report.kind === 'progress') progress(report)
          else {
            resolve(report.answers)
            child.disconnect()
          }
        })
        child.once('error', reject)
        child.once('exit', (code) => {
          reject(new Error(`the load generator ended with ${String(code)}`))
        })
        tell({ kind: 'begin', order })
      }),
    addPort: (port) => tell({ kind: 'port', port }),
    end: () => tell({ kind: 'end' }),
  }
}
