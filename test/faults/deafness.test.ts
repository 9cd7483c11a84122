// A process that no longer hears what others tell stops believing its memory within 5 s; what it
// has is used inside the user's windows while the store is gone too. In virtual time.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore } from '../../src/testing/index.ts'
import { spyStore } from '../support/spy-store.ts'
import { world } from '../support/two-processes.ts'

async function pair(options: Partial<CacheOptions> = {}) {
  const { clock, store, process } = world()
  const link = faultyStore(store)
  const spy = spyStore(link)
  const a = createCache({ namespace: 'test', ttl: '1h', clock, store: spy.store, ...options })
  const b = await process({ ttl: '1h', ...options })
  await clock.advance(10)
  const source = { version: 1, runs: 0 }
  const load = async (_id: string) => {
    source.runs++
    return source.version
  }
  const inA = a.define({ name: 'item', load })
  const inB = b.define({ name: 'item', load })
  const soon = async <T>(promise: Promise<T>): Promise<T> => {
    promise.catch(() => {})
    await clock.advance(20)
    return promise
  }
  expect(await soon(inA.get('k'))).toBe(1)
  return { clock, link, spy, a, b, inA, inB, source, soon }
}

describe('a deaf process', () => {
  it('stops serving its memory as fresh within 5 s, and asks the store', async () => {
    const { clock, spy, a, inA, inB, source, soon } = await pair()
    spy.muted = true
    source.version = 2
    await soon(inB.invalidate('k'))
    expect(await soon(inB.get('k'))).toBe(2)
    await clock.advance('5s')
    expect(a.health()).toMatchObject({ status: 'degraded', store: 'up', bus: 'silent' })
    expect(await soon(inA.get('k'))).toBe(2)
    // Every read goes to the store now.
    source.version = 3
    await soon(inB.invalidate('k'))
    expect(await soon(inB.get('k'))).toBe(3)
    expect(await soon(inA.get('k'))).toBe(3)
  })

  it('hears again: what was kept before and during the gap is looked up once', async () => {
    const { clock, spy, a, inA, inB, source, soon } = await pair()
    spy.muted = true
    await clock.advance('6s')
    source.version = 2
    await soon(inB.invalidate('k'))
    expect(await soon(inB.get('k'))).toBe(2)
    spy.muted = false
    await clock.advance('5s')
    expect(a.health()).toMatchObject({ status: 'ok', bus: 'up' })
    const reads = spy.count('read')
    expect(await soon(inA.get('k'))).toBe(2)
    expect(spy.count('read')).toBe(reads + 1)
    for (let n = 0; n < 5; n++) expect(await inA.get('k')).toBe(2)
    expect(spy.count('read')).toBe(reads + 1)
  })

  it.each(['staleWhileRevalidate', 'staleIfError'] as const)(
    'with the store gone too, memory is served as stale inside %s',
    async (window) => {
      const { clock, link, inA, source, soon } = await pair({ [window]: '1m' })
      link.hang()
      await clock.advance('4s')
      expect(await inA.get('k')).toBe(1) // contact is not yet 5 s old
      await clock.advance('6s')
      source.version = 2
      const answer = await soon(inA.lookup('k'))
      if (window === 'staleWhileRevalidate') {
        expect(answer).toMatchObject({ outcome: 'stale', value: 1 })
        expect(await soon(inA.get('k'))).toBe(2) // refreshed in the background
      } else expect(answer).toMatchObject({ outcome: 'loaded', value: 2 })
    },
  )

  it('with the store gone too, a stale value covers a failing load until its window ends', async () => {
    const { clock, link, soon, a } = await pair({ staleIfError: '1m', ttl: '1h' })
    const item = a.define({
      name: 'fragile',
      load: async (_id: string): Promise<string> => {
        if (broken) throw new Error('source')
        return 'value'
      },
    })
    let broken = false
    expect(await soon(item.get('k'))).toBe('value')
    link.hang()
    broken = true
    await clock.advance('10s')
    expect(await soon(item.lookup('k'))).toMatchObject({ outcome: 'stale', value: 'value' })
    await clock.advance('70s')
    await expect(soon(item.get('k'))).rejects.toThrow('source')
  })

  it('without a window, memory that may be old is not served at all', async () => {
    const { clock, link, inA, source, soon } = await pair()
    link.hang()
    await clock.advance('10s')
    source.version = 2
    expect(await soon(inA.get('k'))).toBe(2)
  })

  it('still joins its callers, and never loads more at once than it is allowed', async () => {
    const { clock, link, a } = await pair({ limit: { concurrency: 3, queue: '1m' } })
    link.hang()
    await clock.advance('10s')
    let running = 0
    let most = 0
    let runs = 0
    const load = async () => {
      runs++
      most = Math.max(most, ++running)
      await new Promise<void>((resolve) => void clock.after(10, resolve))
      running--
      return 1
    }
    const callers = Promise.all(
      Array.from({ length: 300 }, (_, n) => a.getOrLoad(`k${n % 30}`, load)),
    )
    await clock.advance('1s')
    expect(await callers).toHaveLength(300)
    expect(most).toBe(3)
    expect(runs).toBe(30)
  })

  it('reads what another process loaded while nothing was heard', async () => {
    const { clock, spy, inA, inB, source, soon } = await pair({ lease: '2s' })
    await soon(inB.invalidate('k'))
    source.version = 2
    const held = inB.refresh('k')
    await clock.advance(5)
    spy.muted = true
    await held
    const answer = inA.get('k')
    await clock.advance('3s')
    expect(await answer).toBe(2)
  })
})
