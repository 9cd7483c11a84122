// The verifier finds what an invalidation has not reached, and nothing else; and the source does not
// feel it.

import { describe, expect, it } from 'vitest'
import { createCache, type CacheEvents, type CacheOptions } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

type Verified = CacheEvents['verified']

function world(options: Partial<CacheOptions> = {}, random = () => 0) {
  const clock = manualClock()
  const store = memoryStore()
  const rows = new Map<number, unknown>([[1, { n: 1 }]])
  const reasons: string[] = []
  const process = (more: Partial<CacheOptions> = {}) => {
    const all = {
      namespace: 'v',
      ttl: '1h',
      clock: { ...clock, random },
      store,
      verify: 1,
      ...options,
      ...more,
    } as const
    const cache = createCache(all)
    const told: Verified[] = []
    cache.on('verified', (event) => told.push(event))
    const item = cache.define({
      name: 'item',
      tags: ['all'],
      load: (id: number, { reason }) => {
        reasons.push(reason)
        return rows.get(id)
      },
    })
    return { cache, item, told }
  }
  return { clock, rows, reasons, process }
}

describe('a value that is verified', () => {
  it('and is as the source has it, is the same', async () => {
    const { clock, reasons, process } = world()
    const { cache, item, told } = process()
    for (let n = 0; n < 2; n++) await item.get(1)
    await clock.advance(10)
    expect(reasons).toEqual(['miss', 'verify'])
    expect(told).toEqual([
      { name: 'item', key: item.key(1), result: 'same', ms: expect.any(Number) },
    ])
    expect(cache.counters()['item']).toMatchObject({ verifiedSame: 1, loadsVerify: 1, loaded: 1 })
  })

  it('and differs though an invalidation came before, is told with the time since', async () => {
    const { clock, rows, process } = world()
    const { cache, item, told } = process()
    await item.get(1)
    await item.invalidate(1)
    await clock.advance(5)
    // It read from a replica that lags: what was invalidated is loaded, and kept, again.
    await item.get(1)
    rows.set(1, { n: 2 })
    await clock.advance('2s')
    await item.get(1)
    await clock.advance('3s')
    expect(told.map(({ result }) => result)).toEqual(['different'])
    expect(told[0]!.ms).toBeGreaterThanOrEqual(2_000)
    expect(told[0]!.ms).toBeLessThan(4_000)
    expect(cache.counters()['item']).toMatchObject({ verifiedDifferent: 1 })
    // Nothing was put right by it: what is kept is kept.
    expect(await item.get(1)).toEqual({ n: 1 })
  })

  it('and differs, and was never changed, is outdated: the price of a ttl', async () => {
    const { clock, rows, process } = world()
    const { item, told } = process()
    await item.get(1)
    rows.set(1, { n: 2 })
    await clock.advance('5m')
    await item.get(1)
    await clock.advance('2s')
    expect(told).toMatchObject([{ result: 'outdated' }])
    expect(told[0]!.ms).toBeGreaterThanOrEqual(300_000)
  })

  it.each(['key', 'tag', 'all', 'elsewhere'])(
    'and is changed meanwhile by %s is overtaken',
    async (by) => {
      const { clock, rows, process } = world()
      const { cache, item, told } = process()
      const other = process({ verify: false })
      await item.get(1)
      // The writer has changed the source, and invalidates in a moment.
      rows.set(1, { n: 2 })
      await item.get(1)
      await clock.advance(100)
      if (by === 'key') await item.invalidate(1)
      else if (by === 'tag') await cache.invalidateTags('all')
      else if (by === 'all') await cache.clear()
      else await other.item.invalidate(1)
      await clock.advance('2s')
      expect(told.map(({ result }) => result)).toEqual(['overtaken'])
    },
  )

  it('and cannot be had, is neither', async () => {
    const { clock, process } = world()
    const { cache, told } = process()
    let fails = false
    const down = cache.define({
      name: 'down',
      load: (id: number) => (fails ? Promise.reject(new Error('down')) : id),
    })
    await down.get(1)
    fails = true
    expect(await down.get(1)).toBe(1)
    await clock.advance('2s')
    expect(told.map(({ result }) => result)).toEqual(['failed'])
    // Nobody else is the worse for it: no back-off, no failure remembered.
    fails = false
    expect(await down.refresh(1)).toBe(1)
  })

  it('may be compared by a function of the definition’s own', async () => {
    const { clock, process } = world()
    const { cache, told } = process()
    let reads = 0
    const row = cache.define({
      name: 'row',
      load: (id: number) => ({ id, readAt: reads++ }),
      verify: { sample: 1, equal: (one, other) => one.id === other.id },
    })
    await row.get(1)
    await row.get(1)
    await clock.advance('2s')
    expect(told.map(({ result }) => result)).toEqual(['same'])
  })

  it('of classes and dates, shared and cloned, is the same where it is', async () => {
    for (const values of ['freeze', 'clone', 'share'] as const) {
      const { clock, rows, process } = world({ values })
      rows.set(1, {
        at: new Date(5),
        list: [1, { a: undefined }],
        big: 7n,
        bytes: new Uint8Array([1]),
      })
      const { item, told } = process()
      await item.get(1)
      await item.get(1)
      await clock.advance('2s')
      expect(told.map(({ result }) => result)).toEqual(['same'])
    }
  })
})

describe('the sample', () => {
  it('is as large as was asked for, and no more often than so many a second', async () => {
    const { clock, process, reasons } = world(
      { verify: { sample: 0.1, perSecond: 1_000 } },
      Math.random,
    )
    const { item } = process()
    for (let n = 0; n < 4_000; n++) {
      await item.get(1)
      if (n % 2 === 0) await clock.advance(2)
    }
    const verified = reasons.filter((reason) => reason === 'verify').length
    // Binomial: 400 ± 19; some come while one is under way.
    expect(verified).toBeGreaterThan(250)
    expect(verified).toBeLessThan(480)
    const rare = world({ verify: { sample: 1, perSecond: 2 } })
    const other = rare.process()
    for (let n = 0; n < 1_000; n++) {
      await other.item.get(1)
      await rare.clock.advance(10)
    }
    expect(rare.reasons.filter((reason) => reason === 'verify').length).toBeLessThanOrEqual(21)
  })

  it('is taken of one-off keys, too', async () => {
    const { clock, process } = world()
    const { cache, told } = process()
    for (let n = 0; n < 2; n++) await cache.getOrLoad('a', () => 1)
    await clock.advance(10)
    expect(told).toMatchObject([{ name: '', result: 'same' }])
  })

  it('loads nothing while loads are not to be made', async () => {
    const { clock, process, reasons } = world()
    const { cache, item } = process()
    await item.get(1)
    cache.switchTo('no-refresh')
    await item.get(1)
    await clock.advance('2s')
    expect(reasons).toEqual(['miss'])
  })

  it('does not outlive the cache', async () => {
    const { clock, rows, process } = world()
    const { cache, item } = process()
    await item.get(1)
    rows.set(1, 2)
    await item.get(1)
    const closing = cache.close({ timeout: '10s' })
    await clock.advance('11s')
    await closing
  })
})

describe('misuse', () => {
  it.each([
    [2, /verify: expected a number over 0, and at most 1/],
    ['1%', /verify: expected false, a share/],
    [{ sample: 0 }, /verify\.sample: expected a number over 0/],
    [{ sample: 1, perSecond: 0 }, /verify\.perSecond: expected a number over 0/],
    [{ sample: 1, equal: true }, /verify\.equal: expected a function/],
    [{ share: 1 }, /verify\.share.*sample/],
  ])('%j is refused with a sentence', (verify, sentence) => {
    const options = { namespace: 'v', ttl: '1h', verify } as never
    expect(() => createCache(options)).toThrow(sentence)
  })
})
