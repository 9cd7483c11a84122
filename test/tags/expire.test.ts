// `expireTags` where the clock, or the lack of a window, makes it special.

import { describe, expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'

describe('expireTags', () => {
  test('when epochs are ahead of the store’s clock, too', async () => {
    const { clock, process, define, source, tags } = tagRace()
    const a = await process({ memory: false })
    const item = define(a, { staleWhileRevalidate: '30s' })
    tags.bump(
      { labels: ['x'], kind: 'gone', known: (clock.now() + 60_000) * 1_000, settleMs: 0, id: 'i' },
      clock.now(),
    )
    await clock.advance('3s')
    await item.get('k')
    await a.cache.expireTags('t')
    source.value = 'new'
    expect((await item.lookup('k')).outcome).toBe('stale')
    await clock.advance('1s')
    expect(await item.get('k')).toBe('new')
  })

  test('with no window, is an invalidation: no previous', async () => {
    for (const memory of [{}, false as const]) {
      const { clock, process } = tagRace()
      const a = await process({ memory })
      const seen: unknown[] = []
      const item = a.cache.define({
        name: 'item',
        load: (key: string, ctx): string => {
          seen.push(ctx.previous?.value)
          return key
        },
        tags: ['t'],
      })
      await item.get('k')
      await a.cache.expireTags('t')
      await item.get('k')
      await item.expire('k')
      await item.get('k')
      await clock.advance(10)
      expect(seen).toEqual([undefined, undefined, undefined])
    }
  })
})
