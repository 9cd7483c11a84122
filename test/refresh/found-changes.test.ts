// Found by a review of refreshes ahead: changes of keys, by whatever they are named, are followed by
// a refresh before somebody asks; and in an outage what is kept nowhere is not made for each request.

import { describe, expect, it } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'

const minute = 60_000
const placeholder = (id: string) => ({ id, n: 0 })

describe('a value is made again soon, once in the fleet,', () => {
  it.each([
    ['by a tag of the definition', { tags: ['products'] }],
    ['by a tag that its value has', { tags: () => ['products'] }],
  ])('after it was invalidated %s', async (_, more) => {
    const { process, run, of } = aheadRig()
    const fleet = [1, 2, 3].map(() => process({ args: ['a'] }, {}, more))
    await run(2_000)
    for (const { item } of fleet) await item.get('a')
    await fleet[0]!.cache.invalidateTags('products')
    await run(6_000)
    expect(of('a')).toHaveLength(2)
    for (const { item } of fleet) expect((await item.lookup('a')).outcome).toBe('hit')
    await run(minute / 4)
    expect(of('a').length).toBeLessThanOrEqual(3)
  })

  it('after a tag that it does not have was invalidated: not', async () => {
    const { process, run, of } = aheadRig()
    const { cache } = process({ args: ['a'] }, {}, { tags: ['products'] })
    await run(2_000)
    await cache.invalidateTags('other')
    await run(6_000)
    expect(of('a')).toHaveLength(1)
  })

  it.each(['key', 'tag', 'all'])('after it was made stale (%s)', async (by) => {
    const { process, run, of } = aheadRig()
    const how = { tags: ['products'], staleWhileRevalidate: '10m' }
    const { cache, item } = process({ args: ['a'] }, {}, how)
    const other = process({ args: ['a'] }, {}, how)
    await run(2_000)
    if (by === 'key') await item.expire('a')
    else if (by === 'tag') await cache.expireTags('products')
    else await item.expireAll()
    await run(6_000)
    expect(of('a')).toHaveLength(2)
    expect((await other.item.lookup('a')).outcome).toBe('hit')
  })

  it.each(['key', 'tag', 'definition', 'all'])(
    'in a cache without a store, too (%s)',
    async (by) => {
      const { process, run, of } = aheadRig()
      const { cache, item } = process({ args: ['a'] }, { alone: true }, { tags: ['products'] })
      await run(2_000)
      if (by === 'key') await item.invalidate('a')
      else if (by === 'tag') await cache.invalidateTags('products')
      else if (by === 'definition') await item.clear()
      else await cache.clear()
      await run(6_000)
      expect(of('a')).toHaveLength(2)
      expect((await item.lookup('a')).outcome).toBe('hit')
    },
  )
})

describe('without the store and without memory', () => {
  it.each([
    ['a', { onMiss: 'placeholder', placeholder }],
    ['a', { onMiss: 'wait' }],
    ['guest', { onMiss: 'placeholder', placeholder }],
  ] as const)('%s is loaded once per period, whoever asks (%j)', async (id, how) => {
    const { process, run, of } = aheadRig()
    const { item, store } = process({ args: ['a'], ...how }, { memory: false })
    await run(2_000)
    store.hang()
    await run(1_000)
    const at = of(id).length
    for (let n = 0; n < 200; n++) {
      item.get(id, { timeout: 100 }).catch(() => {})
      await run(300)
    }
    expect(of(id).length - at).toBeLessThanOrEqual(2)
    store.heal()
    await run(2 * minute)
    expect((await item.lookup('a')).outcome).toBe('hit')
  })
})
