// Two processes on one in-process store; the first one's replies and messages can be held back.

import { createCache, type CacheOptions } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { heldStore } from './held-store.ts'

export type TestCache = ReturnType<typeof createCache>

export async function race(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const store = memoryStore()
  const link = heldStore(store)
  const common = { namespace: 'test', ttl: '60s', clock, storeTimeout: '10s', ...options } as const
  const here = createCache({ ...common, store: link })
  const there = createCache({ ...common, store })
  await clock.advance(10) // the bus is up, the first beat was heard
  return { clock, store, link, here, there, common }
}

/** One entry, as a process defines it. */
export function define<Value>(
  cache: TestCache,
  load: (...args: never[]) => unknown,
  options: object = {},
) {
  return cache.define({
    name: 'item',
    load: load as (id: string, ctx: object) => Value | Promise<Value>,
    ...options,
  })
}

/** How a promise stands, without waiting for it. */
export function watch<T>(promise: Promise<T>): { value?: T; error?: unknown } {
  const seen: { value?: T; error?: unknown } = {}
  promise.then(
    (value) => (seen.value = value),
    (error: unknown) => (seen.error = error),
  )
  return seen
}
