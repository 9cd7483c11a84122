import { expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'

test('what is not known exactly of the tags of a batch is one question', async () => {
  const { process, define, clock } = tagRace({ labels: 1_000, marks: 3 })
  const tags = (_: string, key: string): string[] => [`of ${key}`]
  const writer = await process()
  const ids = Array.from({ length: 100 }, (_, n) => `id ${n}`)
  await define(writer, { tags }).getMany(ids)
  // More than one answer holds, so that a newcomer knows none of them exactly.
  for (let n = 0; n < 6; n++) await writer.cache.invalidateTags(`other ${n}`)
  await clock.advance(10)
  const reader = await process({ memory: false })
  const before = reader.link.asked('epochs')
  await define(reader, { tags }).getMany(ids)
  expect(reader.link.asked('epochs') - before).toBe(1)
})
