// The tiers agree: memory never outlives the store, gaps in hearing are not believed over, and other
// applications' entries are theirs.

import { describe, expect, it } from 'vitest'
import { createCache } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { heldStore } from '../support/held-store.ts'
import { define, race, watch } from '../support/races.ts'

describe('memory and store', () => {
  it('T048 memory that was filled from the store ends with the store: freshness and windows', async () => {
    const { clock, here, there } = await race()
    let version = 1
    const options = { ttl: '60s', staleIfError: '10s', jitter: 0 }
    let down = false
    const load = (): number => {
      if (down) throw new Error('down')
      return version
    }
    const a = define<number>(here, load, options)
    const b = define<number>(there, load, options)
    await b.get('k')
    await clock.advance(55_000)
    expect(await a.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'store', value: 1 })
    await clock.advance(4_999)
    expect(await a.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'memory', value: 1 })
    version = 2
    await clock.advance(1)
    down = true
    expect(await a.lookup('k')).toMatchObject({ outcome: 'stale', value: 1 })
    await clock.advance(10_000)
    await expect(a.get('k')).rejects.toThrow('down')
    down = false
    await clock.advance(1_000)
    expect(await a.get('k')).toBe(2)
  })

  it('T049 a memory ttl below the age of the entry still lets memory answer', async () => {
    const { clock, common, store } = await race()
    const cache = createCache({ ...common, store, ttl: '1h', memory: { ttl: '10s' } })
    const other = createCache({ ...common, store, ttl: '1h' })
    await clock.advance(10)
    const a = define<number>(cache, () => 1)
    await define<number>(other, () => 1).get('k')
    await clock.advance(60_000)
    expect(await a.lookup('k')).toMatchObject({ tier: 'store' })
    await clock.advance(9_000)
    expect(await a.lookup('k')).toMatchObject({ tier: 'memory' })
    await clock.advance(1_001)
    expect(await a.lookup('k')).toMatchObject({ tier: 'store' })
    expect(await a.lookup('k')).toMatchObject({ tier: 'memory' })
  })

  it('T075 an expiry outlives the process that asked for it: windows run in the store', async () => {
    const { clock, here, common, store } = await race()
    let down = false
    const load = (): string => {
      if (down) throw new Error('down')
      return 'v'
    }
    const options = { ttl: '1h', staleIfError: '10s' }
    const a = define<string>(here, load, options)
    await a.get('k')
    await a.expire('k')
    void here.close()
    await clock.advance(9_000)
    down = true
    const later = createCache({ ...common, store })
    await clock.advance(10)
    const b = define<string>(later, load, options)
    expect(await b.lookup('k')).toMatchObject({ outcome: 'stale', value: 'v' })
    await clock.advance(1_000)
    await expect(b.get('k')).rejects.toThrow('down')
  })

  it('a set, an invalidation and an expiry reach the memory of every process', async () => {
    const { clock, here, there } = await race()
    let version = 1
    const a = define<number>(here, () => version, { staleWhileRevalidate: '1h' })
    const b = define<number>(there, () => version, { staleWhileRevalidate: '1h' })
    await Promise.all([a.get('k'), b.get('k')])
    await b.set('k', ++version)
    await clock.advance(1)
    expect(await a.get('k')).toBe(2)
    version = 3
    await b.invalidate('k')
    await clock.advance(1)
    expect(await a.get('k')).toBe(3)
    await b.get('k')
    version = 4
    await a.expire('k')
    await clock.advance(1)
    expect(await b.lookup('k')).toMatchObject({ outcome: 'stale', value: 3 })
    await clock.advance(1)
    expect(await b.get('k')).toBe(4)
    expect(await a.lookup('k')).toMatchObject({ outcome: 'stale', value: 3 })
    await clock.advance(1)
    expect(await a.get('k')).toBe(4)
  })
})

describe('T073 a gap in hearing', () => {
  it('makes entries from before and during it be looked up again; those after it are believed', async () => {
    const { clock, link, here, there } = await race()
    let version = 1
    const a = define<number>(here, () => version)
    const b = define<number>(there, () => version)
    await a.get('before')
    link.loseBus()
    await a.get('during')
    version = 2
    await b.invalidate('before')
    await b.invalidate('during')
    link.regainBus()
    await clock.advance(1)
    expect([await a.get('before'), await a.get('during')]).toEqual([2, 2])
    await a.get('after')
    await here.idle() // published, and only then kept
    expect(await a.lookup('after')).toMatchObject({ tier: 'memory' })
    expect(here.health().bus).toBe('up')
  })

  it('is over only when the process has heard itself: until then nothing new is believed for long', async () => {
    const { clock, link, here, there } = await race()
    let version = 1
    const a = define<number>(here, () => version)
    const b = define<number>(there, () => version)
    await a.get('k')
    link.loseBus() // and nobody says so later
    version = 2
    await b.invalidate('k')
    await clock.advance(5_000)
    expect(here.health().bus).toBe('silent')
    expect(await a.get('k')).toBe(2)
    version = 3
    await b.invalidate('k')
    expect(await a.get('k')).toBe(3)
  })

  it('without any news of the bus: a process that hears nothing is deaf within 5 s', async () => {
    const { clock, link, here, there } = await race()
    let version = 1
    const a = define<number>(here, () => version)
    const b = define<number>(there, () => version)
    await a.get('k')
    link.holdBus() // half open: no error, no message
    version = 2
    await b.invalidate('k')
    await clock.advance(5_000)
    expect(await a.get('k')).toBe(2)
    expect(here.health()).toMatchObject({ status: 'degraded', bus: 'silent' })
    link.releaseBus()
    await clock.advance(2_100)
    expect(here.health()).toMatchObject({ status: 'ok', bus: 'up' })
    expect(await a.get('k')).toBe(2)
  })

  it('wakes who waits: a load that ended meanwhile is found in the store', async () => {
    const { clock, link, here, there } = await race()
    let end = (_value: string): void => {}
    const a = define<string>(here, () => 'unused')
    const b = define<string>(there, () => new Promise<string>((resolve) => (end = resolve)))
    watch(b.get('k'))
    await clock.advance(1)
    const waits = watch(a.get('k'))
    await clock.advance(1)
    link.loseBus()
    end('value')
    await clock.advance(1)
    link.regainBus()
    await clock.advance(1)
    expect(waits.value).toBe('value')
  })
})

describe('neighbours', () => {
  it('two caches in one process on one store are told of each other’s changes', async () => {
    const clock = manualClock()
    const store = memoryStore()
    const common = { namespace: 'n', ttl: '60s', clock, store } as const
    const [one, two] = [createCache(common), createCache(common)]
    await clock.advance(10)
    let version = 1
    const load = (): number => version
    expect([await one.getOrLoad('k', load), await two.getOrLoad('k', load)]).toEqual([1, 1])
    version = 2
    await one.invalidate('k')
    await clock.advance(1)
    expect([await two.getOrLoad('k', load), await one.getOrLoad('k', load)]).toEqual([2, 2])
  })

  it('T039 another namespace on the same store shares neither value, lease nor message', async () => {
    const clock = manualClock()
    const store = memoryStore()
    const link = heldStore(store)
    const one = createCache({ namespace: 'one', ttl: '60s', clock, store: link })
    const two = createCache({ namespace: 'two', ttl: '60s', clock, store })
    await clock.advance(10)
    const [a, b] = [define<string>(one, () => 'one'), define<string>(two, () => 'two')]
    expect(await Promise.all([a.get('k'), b.get('k')])).toEqual(['one', 'two'])
    await b.invalidate('k')
    await clock.advance(1)
    const reads = link.asked('read')
    expect(await a.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'memory', value: 'one' })
    expect(link.asked('read')).toBe(reads)
  })
})
