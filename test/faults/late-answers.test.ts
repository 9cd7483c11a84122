// The store in front of which the breaker stands: opens, probes, closes; what a read pays meanwhile.
// In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { spyStore } from '../support/spy-store.ts'

type Reading = Readonly<Record<string, unknown>>

async function one(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const inner = memoryStore()
  const link = faultyStore(inner)
  const spy = spyStore(link)
  const cache = createCache({ namespace: 'test', ttl: '60s', clock, store: spy.store, ...options })
  const events: Reading[] = []
  cache.on('breaker', (event) => events.push({ ...event }))
  await clock.advance(10)
  /** How long the promise took on the cache's clock, to the millisecond. */
  const timed = async <T>(promise: Promise<T>): Promise<{ value: T; ms: number }> => {
    const from = clock.now()
    let done: { value: T; ms: number } | undefined
    let failed: { error: unknown } | undefined
    promise.then(
      (value) => (done = { value, ms: clock.now() - from }),
      (error: unknown) => (failed = { error }),
    )
    for (let step = 0; step < 5_000; step++) {
      if (failed !== undefined) throw failed.error
      if (done !== undefined) return done
      await clock.advance(step === 0 ? 0 : 1)
    }
    throw new Error('expected it to settle within 5 s')
  }
  return { clock, link, spy, inner, cache, events, timed }
}

describe('a store that is gone', () => {
  it('T090 does not pile up commands on a frozen connection, probes included', async () => {
    const { link, cache, timed, clock, spy } = await one()
    link.hang()
    await timed(cache.getOrLoad('first', () => 1))
    await clock.advance('1h')
    expect(spy.unanswered).toBeLessThanOrEqual(50)
  })

  it('a lease that is granted late is released', async () => {
    const { cache, clock, link, timed, inner } = await one({ lease: '60s' })
    await timed(cache.getOrLoad('k', () => 1))
    await clock.advance('61s') // known here, and expired: the lease is asked for without a look
    link.hang()
    expect((await timed(cache.getOrLoad('k', () => 2))).value).toBe(2)
    link.heal() // now the lease is granted
    await clock.advance('1s')
    const other = createCache({ namespace: 'test', ttl: '60s', clock, store: inner })
    await clock.advance(10)
    expect((await timed(other.getOrLoad('k', () => 3))).ms).toBeLessThan(2_000)
  })
})
