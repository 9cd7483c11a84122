// Changes by tag in the middle of batches: each entry of a common load is held against its own tags.

import { describe, expect, test } from 'vitest'
import type { Racer } from '../support/tag-race.ts'
import { tagRace } from '../support/tag-race.ts'
import { watched } from '../support/watched.ts'

function batches() {
  const race = tagRace()
  const runs: { readonly args: readonly number[]; end(): void }[] = []
  const define = (racer: Racer) =>
    racer.cache.define<number, string>({
      name: 'row',
      load: (id) => `${race.source.value} ${id}`,
      loadMany: (args) => {
        const rows = args.map((id) => `${race.source.value} ${id}`)
        if (!race.source.slow) return rows
        return new Promise<string[]>((resolve) => {
          runs.push({ args, end: () => resolve(rows) })
        })
      },
      tags: (_, id) => ['all', `id:${id}`],
    })
  return { ...race, runs, define }
}

describe('getMany', () => {
  test.each(['here', 'elsewhere'])(
    'a change by tag that overtakes a common load is for the entries that carry it: made %s',
    async (where) => {
      const { clock, process, define, runs, source } = batches()
      const [a, b] = [await process(), await process()]
      const [here, there] = [define(a), define(b)]
      source.slow = true
      const first = watched(here.getMany([1, 2, 3]))
      await clock.advance(10)
      expect(runs.map(({ args }) => args)).toEqual([[1, 2, 3]])
      source.value = 'new'
      await (where === 'here' ? a : b).cache.invalidateTags(['id:2', 'nothing'])
      await clock.advance(10)
      const later = watched(here.getMany([3, 2, 1, 2]))
      const elsewhere = watched(there.getMany([1, 2]))
      await clock.advance(10)
      source.slow = false
      for (const { end } of runs.splice(0)) end()
      await clock.advance(100)
      for (const { end } of runs.splice(0)) end()
      await clock.advance(4_000)
      expect(first.value).toEqual(['old 1', 'old 2', 'old 3'])
      expect(later.value).toEqual(['old 3', 'new 2', 'old 1', 'new 2'])
      expect(elsewhere.value).toEqual(['old 1', 'new 2'])
      expect(await here.getMany([1, 2, 3])).toEqual(['old 1', 'new 2', 'old 3'])
    },
  )

  test('in one round trip for a process that does not know the epochs yet', async () => {
    const { clock, process, define, source } = batches()
    const a = await process()
    const here = define(a)
    await here.getMany([1, 2, 3])
    source.value = 'new'
    await a.cache.invalidateTags('id:2')
    await clock.advance(10)
    const b = await process()
    const there = define(b)
    b.link.loseBus()
    const asked = b.link.asked('epochs')
    expect(await there.getMany([1, 2, 3])).toEqual(['old 1', 'new 2', 'old 3'])
    // With the look, and with the load of what was missing.
    expect(b.link.asked('epochs') - asked).toBeLessThanOrEqual(2)
  })

  test('clear reaches all of them, in memory and in the store', async () => {
    const { clock, process, define, source } = batches()
    const [a, b] = [await process(), await process({ memory: false })]
    const [here, there] = [define(a), define(b)]
    await here.getMany([1, 2])
    source.value = 'new'
    await there.clear()
    await clock.advance(10)
    expect(await there.getMany([1, 2])).toEqual(['new 1', 'new 2'])
    expect(await here.getMany([1, 2])).toEqual(['new 1', 'new 2'])
  })
})
