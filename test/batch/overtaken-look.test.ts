// A batch waits for the tags of one of its keys; the others are judged already when a change comes.

import { expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'

test.each(['invalidateTags', 'clear'] as const)(
  'who asks after %s joins no batch whose answer was judged before it',
  async (how) => {
    const { clock, process, define, source } = tagRace({ labels: 1_000, marks: 3 })
    const writer = await process()
    const there = define(writer, { tags: (_, key) => [`t ${key}`] })
    await there.getMany(['a', 'b'])
    await clock.advance(10)
    // So much else that nobody knows all labels exactly.
    for (let n = 0; n < 6; n++) await writer.cache.invalidateTags(`other ${n}`)
    const reader = await process({ memory: false })
    const here = define(reader, { tags: (_, key) => [`t ${key}`] })
    reader.link.hold('replies', 'epochs')
    const before = here.getMany(['a', 'b'])
    await clock.advance(10)
    source.value = 'new'
    const change = how === 'clear' ? reader.cache.clear() : reader.cache.invalidateTags('t a')
    const after = here.get('a')
    await clock.advance(10)
    reader.link.releaseAll()
    await clock.advance(10)
    await change
    expect(await after).toBe('new')
    await before
  },
)
