/** One core's share of the histories: asked for by their seeds, a few at a time. */
import { parentPort } from 'node:worker_threads'
import { runBatch } from './batch.ts'
import type { Extent } from './plan.ts'

export interface Order {
  readonly seeds: readonly number[]
  readonly extent: Extent
}

parentPort?.on('message', ({ seeds, extent }: Order) => {
  runBatch(seeds, extent).then(
    (summary) => parentPort!.postMessage(summary),
    (error: unknown) => {
      // As an uncaught one: whoever waits for this worker is told.
      queueMicrotask(() => {
        throw error
      })
    },
  )
})
