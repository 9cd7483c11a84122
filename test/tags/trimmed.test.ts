import { expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'

// More labels than a process remembers: the first to be forgotten are those that changed longest
// ago, also of its own changes. One that changed just now would take all of its memory with it.
test('a change of our own is not forgotten before older ones', async () => {
  const { clock, process, define } = tagRace()
  const [a, b] = [await process(), await process()]
  const item = define(a)
  await a.cache.invalidateTags('mine')
  await b.cache.invalidateTags(Array.from({ length: 9_998 }, (_, n) => `other ${n}`))
  await clock.advance(10)
  await item.get('k')
  await a.cache.invalidateTags('mine')
  await b.cache.invalidateTags(Array.from({ length: 10 }, (_, n) => `another ${n}`))
  await clock.advance(10)
  expect(await item.lookup('k')).toMatchObject({ outcome: 'hit', tier: 'memory' })
})
