// What nobody awaits fails in silence, but not unnoticed. In virtual time.

import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock } from '../../src/testing/index.ts'
import { world } from '../support/two-processes.ts'

const unhandled: unknown[] = []
const onUnhandled = (error: unknown): void => void unhandled.push(error)
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

beforeEach(() => {
  unhandled.length = 0
  process.on('unhandledRejection', onUnhandled)
})
afterEach(() => void process.removeListener('unhandledRejection', onUnhandled))

describe('background work', () => {
  it('T028 a listener that rejects harms nobody', async () => {
    const { clock, faulty } = world()
    const { cache, link } = await faulty({ ttl: '1s', staleWhileRevalidate: '1h' })
    const listener = (): void => {
      return Promise.reject(new Error('listener')) as never
    }
    for (const event of [
        'answer', 'load', 'loadFailed', 'fenced', 'waited', 'invalidated', 'unstorable',
        'unreadable', 'callbackFailed', 'storeFailed', 'breaker', 'bus',
      ] as const) cache.on(event, listener) // prettier-ignore
    const first = cache.getOrLoad('k', () => 1)
    await clock.advance(10)
    expect(await first).toBe(1)
    await clock.advance('2s')
    link.fail()
    const fail = () => Promise.reject(new Error('source'))
    const stale = cache.getOrLoad('k', fail)
    await clock.advance(10)
    expect(await stale).toBe(1)
    await expect(cache.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await clock.advance('10s')
    await turn()
    expect(unhandled).toEqual([])
  })

  it('T028 a waitUntil that rejects harms nobody', async () => {
    const clock = manualClock()
    const cache = createCache({
      namespace: 'test',
      ttl: '1s',
      staleWhileRevalidate: '1h',
      clock,
      waitUntil: () => {
        return Promise.reject(new Error('platform')) as never
      },
    })
    let n = 0
    const load = () => ++n
    await cache.getOrLoad('k', load)
    await clock.advance('2s')
    expect(await cache.getOrLoad('k', load)).toBe(1)
    await clock.advance(10)
    await turn()
    expect(await cache.getOrLoad('k', load)).toBe(2)
    expect(unhandled).toEqual([])
  })
})
