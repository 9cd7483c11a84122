// What tests of real servers ask of a cache again and again.

import { performance } from 'node:perf_hooks'
import type { Cache } from '../../src/index.ts'
import { until } from './open-session.ts'

/** Each of them says that it is well. */
export function well(...caches: readonly Cache[]): Promise<void> {
  return until(
    () => caches.every((cache) => cache.health().status === 'ok'),
    () => JSON.stringify(caches.map((cache) => cache.health())),
  )
}

export async function timed<T>(run: () => Promise<T>): Promise<{ value: T; ms: number }> {
  const from = performance.now()
  const value = await run()
  return { value, ms: performance.now() - from }
}
