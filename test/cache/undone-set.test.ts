// A `set` may have to ask what is known of tags before it is sent; an invalidation need not.

import { expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'

test.each(['invalidate', 'expire'] as const)(
  'a set that waits does not bring back what %s, called later, has ended',
  async (how) => {
    const { clock, process, define, source } = tagRace()
    const racer = await process()
    const item = define(racer)
    racer.link.loseBus()
    await clock.advance(10)
    racer.link.hold('replies', 'epochs')
    const set = item.set('k', 'set')
    source.value = 'new'
    const change = item[how]('k')
    await clock.advance(10)
    racer.link.releaseAll()
    await clock.advance(10)
    await Promise.all([set, change])
    expect(await item.get('k')).toBe('new')
  },
)
