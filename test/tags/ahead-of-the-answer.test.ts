import { expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'

// A was cut off and asks what it missed: more than one answer holds. While the answer is on its way
// A hears of one change more, which is later than all that the answer can tell.
test('what was heard while more than one answer holds was asked for is not forgotten', async () => {
  const { clock, process, define, source } = tagRace({ labels: 1_000, marks: 3 })
  const [a, b] = [await process({ memory: false }), await process()]
  const [here, there] = [define(a), define(b)]
  a.link.loseBus()
  for (let n = 0; n < 5; n++) await b.cache.invalidateTags(`other ${n}`)
  await there.get('k')
  await clock.advance(10)
  a.link.hold('replies', 'beat')
  a.link.regainBus()
  await clock.advance(10) // it has been asked
  source.value = 'new'
  await b.cache.invalidateTags('t')
  await clock.advance(10)
  expect(a.heard.some(({ type }) => type === 'bumped')).toBe(true)
  a.link.releaseAll()
  await clock.advance(10)
  expect(await here.get('k')).toBe('new')
})
