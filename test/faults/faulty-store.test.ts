// The test double that `breakwater/testing` gives to users does what it says.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

describe('faultyStore', () => {
  const setUp = async () => {
    const clock = manualClock()
    const link = faultyStore(memoryStore())
    const cache = createCache({
      namespace: 'test',
      ttl: '1m',
      clock,
      store: link,
      storeTimeout: '1s',
      memory: false,
    })
    await clock.advance(10)
    return { clock, link, cache }
  }

  it('delays operations by as much as it is told, on the clock of the cache', async () => {
    const { clock, link, cache } = await setUp()
    link.delay(300)
    const from = clock.now()
    let took = 0
    void cache.set('k', 1).then(() => (took = clock.now() - from))
    await clock.advance(299)
    expect(took).toBe(0)
    await clock.advance(2)
    expect(took).toBe(300)
  })

  it('gives the error that it is told to fail with as the cause', async () => {
    const { link, cache } = await setUp()
    const error = new Error('no route')
    link.fail(error)
    await expect(cache.invalidate('k')).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      cause: error,
    })
  })

  it('takes what comes while it hangs, and lets it happen late', async () => {
    const { clock, link, cache } = await setUp()
    const kept = cache.getOrLoad('k', () => 'old')
    await clock.advance(5)
    await kept
    link.hang()
    const late = cache.invalidate('k').catch((error: unknown) => error)
    await clock.advance('2s')
    expect(await late).toMatchObject({ code: 'STORE_UNAVAILABLE' })
    link.heal()
    await clock.advance('5s')
    expect(await cache.peek('k')).toEqual({ state: 'missing' })
  })

  it.each([undefined, {}, { store: 1 }, 'redis'])('refuses %s', (inner) => {
    expect(() => faultyStore(inner as never)).toThrow(/faultyStore: expected/)
  })

  it('may be wrapped once more', async () => {
    const clock = manualClock()
    const link = faultyStore(memoryStore())
    const outer = faultyStore(link)
    const cache = createCache({ namespace: 'test', ttl: '1m', clock, store: outer })
    await clock.advance(10)
    const kept = cache.set('k', 1)
    await clock.advance(5)
    await kept
    link.fail()
    await expect(cache.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
  })
})
