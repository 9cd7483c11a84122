// Changes that the store did not take, or may have lost: none is forgotten, and none is undone meanwhile.

import { describe, expect, test } from 'vitest'
import { Outbox } from '../../src/cache/outbox.ts'
import { createCache } from '../../src/index.ts'
import type { StorePort, StoreScope } from '../../src/ports.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { spyStore } from '../support/spy-store.ts'
import { tagRace } from '../support/tag-race.ts'
import { watched } from '../support/watched.ts'

describe('an invalidation in the moment of recovery', () => {
  test('of a key, while those by tag are still being repeated, is repeated too', async () => {
    const { clock, process, define, source } = tagRace()
    const a = await process({ storeTimeout: '1s' })
    const b = await process()
    const [here, there] = [define(a), define(b)]
    expect(await there.get('k')).toBe('old')
    a.link.hold('replies', 'bump')
    const lost = watched(a.cache.invalidateTags('other'))
    await clock.advance(1_200) // the breaker is open, a probe has been answered, one outbox is empty
    expect(lost.state).toBe('rejected')
    source.value = 'new'
    await expect(here.invalidate('k')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await clock.advance(200) // it was tried again, with the breaker still open
    a.link.releaseAll()
    await clock.advance('20s')
    expect(a.cache.health().status).toBe('ok')
    expect(await there.get('k')).toBe('new')
  })

  test('by tag, while those of keys are still being repeated, is repeated too', async () => {
    const { clock, process, define, source } = tagRace()
    const a = await process({ storeTimeout: '1s' })
    const b = await process()
    const [here, there] = [define(a), define(b)]
    expect(await there.get('k')).toBe('old')
    a.link.hold('replies', 'invalidate')
    const lost = watched(here.invalidate('x'))
    await clock.advance(1_200)
    expect(lost.state).toBe('rejected')
    source.value = 'new'
    await expect(a.cache.invalidateTags('t')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    await clock.advance(200) // it was tried again, with the breaker still open
    a.link.releaseAll()
    await clock.advance('20s')
    expect(a.cache.health().status).toBe('ok')
    expect(await there.get('k')).toBe('new')
  })
})

describe('what another server may never have heard of', () => {
  test('an invalidation is repeated as one, although the name was expired since', async () => {
    const clock = manualClock()
    const delivered: string[] = []
    const outbox = new Outbox({
      clock,
      isUp: () => true,
      parts: (names: readonly string[]) => [names],
      deliver: async (names, what) => void delivered.push(`${what} ${names.join()}`),
      detached: (run) => run(),
      onOverflow: () => {},
    })
    outbox.taken(['k'], 'invalidate')
    outbox.taken(['k'], 'expire')
    outbox.repeatRecent()
    await clock.advance('1s')
    expect(delivered).toEqual(['invalidate k'])
  })
})

describe('more invalidations than can be remembered', () => {
  test('are still not undone by what the store holds', async () => {
    const clock = manualClock()
    const spy = spyStore(memoryStore())
    // It answers, and refuses: as a server that may not write to its disk.
    const store = {
      ...spy.store,
      open: (scope: StoreScope) => {
        const session = (spy.store as StorePort).open(scope)
        return Object.assign(session, { isRefusal: () => true })
      },
    } as StorePort
    const cache = createCache({ namespace: 'x', ttl: '1h', clock, store, memory: false })
    const source = { value: 'old' }
    const item = cache.define({ name: 'item', load: (_id: number) => source.value })
    await clock.advance(10)
    expect(await item.get(1)).toBe('old')
    source.value = 'new'
    spy.failNext('invalidate')
    spy.failNext('bump')
    const ids = Array.from({ length: 100_001 }, (_, id) => id)
    await expect(item.invalidateMany(ids)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' })
    expect(cache.health().store).toBe('up')
    expect(await item.get(1)).toBe('new')
    await clock.advance('10s')
    expect(cache.health().status).toBe('ok')
    expect(await item.get(1)).toBe('new')
  })
})
