// What the store did not take is not lost: it was applied here, its caller was told, and it is
// repeated before the store is believed again. In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { spyStore } from '../support/spy-store.ts'
import { world } from '../support/two-processes.ts'

const unavailable = { code: 'STORE_UNAVAILABLE' }

/** Two processes that both know the first version; only A's way to the store can break. */
async function twoThatKnow(options: Partial<CacheOptions> = {}) {
  const { clock, store, process } = world()
  const link = faultyStore(store)
  const spy = spyStore(link)
  const a = createCache({ namespace: 'test', ttl: '60s', clock, store: spy.store, ...options })
  const b = await process(options)
  await clock.advance(10)
  const source = { version: 1, runs: 0 }
  const load = async (_id: string) => {
    source.runs++
    return source.version
  }
  const inA = a.define({ name: 'item', load })
  const inB = b.define({ name: 'item', load })
  const both = async (): Promise<readonly number[]> => {
    const answers = Promise.all([inA.get('k'), inB.get('k')])
    await clock.advance(5)
    return answers
  }
  expect(await both()).toEqual([1, 1])
  return { clock, link, spy, a, b, inA, inB, source, both }
}

describe('what the store did not take', () => {
  it('T099 one lost invalidation is replayed although the breaker stays closed', async () => {
    const { clock, spy, a, inA, source, both } = await twoThatKnow()
    spy.failNext('invalidate')
    await expect(inA.invalidate('k')).rejects.toMatchObject(unavailable)
    source.version = 2
    await clock.advance(5_000)
    expect(a.health().status).toBe('ok')
    expect(await both()).toEqual([2, 2])
  })

  it('T099 after one lost invalidation this process never serves the older value', async () => {
    const { clock, spy, inA, source } = await twoThatKnow()
    spy.failNext('invalidate')
    await expect(inA.invalidate('k')).rejects.toMatchObject(unavailable)
    source.version = 2
    const next = inA.get('k')
    await clock.advance(5)
    expect(await next).toBe(2)
  })

  it('T099 a lost set is not undone by the older value in the store', async () => {
    const { clock, spy, a, inA, source, both } = await twoThatKnow()
    spy.failNext('write', new Error("OOM command not allowed when used memory > 'maxmemory'"))
    await expect(inA.set('k', 2)).rejects.toMatchObject(unavailable)
    source.version = 2
    for (let second = 0; second < 20; second++) {
      await clock.advance('1s')
      const next = inA.get('k')
      await clock.advance(5)
      expect(await next).toBe(2)
    }
    expect(a.health().status).toBe('ok')
    expect(await both()).toEqual([2, 2])
  })

  it('an invalidation that comes while an earlier one of its key is replayed is replayed as well', async () => {
    const { clock, link, spy, inA, inB, source, both } = await twoThatKnow()
    link.hang()
    const first = inA.invalidate('k').catch(() => {})
    await clock.advance(150)
    await first
    spy.holdAnswers('invalidate')
    link.heal()
    await clock.advance(65) // the probe went well, the replay has happened, its answer is on its way
    expect(spy.count('invalidate')).toBe(2)
    // B fills again with what is still the old version, then the source changes.
    const refilled = inB.get('k')
    await clock.advance(5)
    expect(await refilled).toBe(1)
    source.version = 2
    const second = inA.invalidate('k').catch(() => {})
    await clock.advance(1)
    spy.letGo()
    await clock.advance(5_000)
    await second
    expect(await both()).toEqual([2, 2])
  })

  it('T099 more invalidations than are remembered: no older value is believed afterwards', async () => {
    const { clock, link, a, inA, source, both } = await twoThatKnow()
    link.hang()
    source.version = 2
    const first = inA.invalidate('first').catch(() => {})
    await clock.advance(150)
    await first
    await inA.invalidate('k').catch(() => {})
    for (let n = 0; n < 11_000; n++) await inA.invalidate(`other ${n}`).catch(() => {})
    link.heal()
    await clock.advance(10_000)
    expect(a.health().status).toBe('ok')
    expect(await both()).toEqual([2, 2])
  }, 60_000)
})
