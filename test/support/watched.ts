// A call whose end can be looked at without waiting for it, and a cache of one process in virtual time.

import { createCache, type CacheOptions, type LoadContext } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { controlled } from './two-processes.ts'

export interface Watched<T> {
  state: 'pending' | 'resolved' | 'rejected'
  value?: T
  error?: unknown
}

export function watched<T>(call: Promise<T>): Watched<T> {
  const it: Watched<T> = { state: 'pending' }
  call.then(
    (value) => Object.assign(it, { state: 'resolved', value }),
    (error: unknown) => Object.assign(it, { state: 'rejected', error }),
  )
  return it
}

export function alone(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  return { clock, cache: createCache({ namespace: 'test', ttl: '10s', clock, ...options }) }
}

/** Runs that are ended one by one, in any order. */
export function runs<T>() {
  const all: {
    resolve(value: T): void
    reject(error: unknown): void
  }[] = []
  return {
    all,
    next: (): Promise<T> =>
      new Promise<T>((resolve, reject) => {
        all.push({ resolve, reject })
      }),
  }
}

/** A cache whose one entry was loaded as `old` at 0; runs after that are under control. */
export async function filled(options: Partial<CacheOptions>) {
  const { clock, cache } = alone(options)
  const loader = controlled<string>()
  const reasons: string[] = []
  const item = cache.define({
    name: 'item',
    load: (_id: string, ctx: LoadContext) => {
      reasons.push(ctx.reason)
      return loader.load()
    },
  })
  const first = item.get('a')
  await clock.advance(0)
  loader.end('old')
  await first
  return { clock, cache, loader, item, reasons }
}
