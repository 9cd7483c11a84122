// A flood of ids that do not exist, through the whole engine: what reaches the source is what the
// filter takes for real by mistake, and with negative entries each of those once.

import { beforeAll, describe, expect, it } from 'vitest'
import { memoryGuard } from '../../src/guard/index.ts'
import type { Guard } from '../../src/index.ts'
import { world } from '../support/two-processes.ts'

const capacity = 1_000_000
const errorRate = 0.01
const absent = 100_000

describe('a flood of 100,000 absent ids against 1,000,000 at 1 %', () => {
  let guard: Guard<string>
  beforeAll(async () => {
    guard = memoryGuard<string>({ capacity, errorRate })
    await guard.rebuild(
      (function* () {
        for (let id = 0; id < capacity; id++) yield `product-${id}`
      })(),
    )
  })

  const flood = async (options: { negativeTtl?: '30s' | 0; rounds: number }) => {
    const { process } = world()
    const { negativeTtl = '30s', rounds } = options
    const cache = await process({ memory: { maxEntries: 2 * absent } })
    const asked = new Map<string, number>()
    const product = cache.define({
      name: 'product',
      guard,
      negativeTtl,
      load: async (id: string): Promise<{ id: string } | undefined> => {
        asked.set(id, (asked.get(id) ?? 0) + 1)
        return Number(id.slice(8)) < capacity ? { id } : undefined
      },
    })
    for (let round = 0; round < rounds; round++) {
      for (let from = 0; from < absent; from += 500) {
        const ids = Array.from({ length: 500 }, (_, n) => `product-${capacity + from + n}`)
        const found = await Promise.all(ids.map((id) => product.get(id)))
        expect(found.every((one) => one === undefined)).toBe(true)
      }
    }
    return { asked, product, cache }
  }

  it('reaches the source 1,100 times at most without negative entries', async () => {
    const { asked, cache } = await flood({ negativeTtl: 0, rounds: 1 })
    const loads = [...asked.values()].reduce((sum, n) => sum + n, 0)
    expect(loads).toBeLessThanOrEqual(1_100)
    // And by the formula: six times the spread of a count of this size.
    const expected = absent * errorRate
    expect(Math.abs(loads - expected)).toBeLessThan(6 * Math.sqrt(expected))
    expect(cache.counters()['product']).toMatchObject({ refused: absent - loads, loads })
  })

  it('reaches it once for each id with them, however often it comes', async () => {
    const { asked } = await flood({ rounds: 3 })
    expect(Math.max(...asked.values())).toBe(1)
    expect(asked.size).toBeLessThanOrEqual(1_100)
  })

  it('refuses nothing that exists', async () => {
    const { product } = await flood({ rounds: 0 })
    for (let id = 0; id < capacity; id += 9_973) {
      expect(await product.get(`product-${id}`)).toEqual({ id: `product-${id}` })
    }
  })
})
