// Caches on one in-process store and one manual clock: as processes on one Redis, in virtual time.

import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

export interface World {
  readonly clock: ReturnType<typeof manualClock>
  readonly store: ReturnType<typeof memoryStore>
  /** One more process. */
  process(options?: Partial<CacheOptions>): Promise<ReturnType<typeof createCache>>
  /** One whose own access to the store can be broken. */
  faulty(options?: Partial<CacheOptions>): Promise<{
    cache: ReturnType<typeof createCache>
    link: ReturnType<typeof faultyStore>
  }>
}

export function world(): World {
  const clock = manualClock()
  const store = memoryStore()
  const make = async (options: Partial<CacheOptions>): Promise<ReturnType<typeof createCache>> => {
    const cache = createCache({ namespace: 'test', ttl: '60s', store, clock, ...options })
    await clock.advance(10) // the bus is up, the first beat was heard
    return cache
  }
  return {
    clock,
    store,
    process: (options = {}) => make(options),
    async faulty(options = {}) {
      const link = faultyStore(store)
      return { cache: await make({ ...options, store: link }), link }
    },
  }
}

/** A loader under control: counts its runs, and ends each when told. */
export function controlled<T>(): {
  load: () => Promise<T>
  readonly runs: number
  /** Ends the oldest run that is still going. */
  end(value: T): void
  fail(error: unknown): void
} {
  let runs = 0
  const going: { resolve(value: T): void; reject(error: unknown): void }[] = []
  return {
    load: () => {
      runs++
      return new Promise<T>((resolve, reject) => going.push({ resolve, reject }))
    },
    get runs() {
      return runs
    },
    end: (value) => going.shift()!.resolve(value),
    fail: (error) => going.shift()!.reject(error),
  }
}
