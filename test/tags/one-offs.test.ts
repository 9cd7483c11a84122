// One-offs of one key may have other tags: each reader holds its own against what it is given.

import { describe, expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'
import { watched } from '../support/watched.ts'

describe('one-offs of one key with other tags', () => {
  test('each reader holds its own against what is in memory', async () => {
    const { clock, process, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const load = () => source.value
    await a.cache.getOrLoad('k', load, { tags: ['a'] })
    source.value = 'new'
    await b.cache.invalidateTags('b')
    await clock.advance(10)
    expect(await b.cache.getOrLoad('k', load, { tags: ['a'] })).toBe('old')
    expect(await b.cache.getOrLoad('k', load, { tags: ['b'] })).toBe('new')
  })

  test('in memory since before', async () => {
    const { clock, process, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const load = () => source.value
    await a.cache.getOrLoad('k', load, { tags: ['a'] })
    source.value = 'new'
    await b.cache.invalidateTags('b')
    await clock.advance(10)
    await a.cache.peek('k')
    expect(await a.cache.getOrLoad('k', load, { tags: ['b'] })).toBe('new')
  })

  test('a reader who joins holds its own', async () => {
    const { clock, process, source } = tagRace()
    const [a, b] = [await process(), await process()]
    let end = () => {}
    const load = () => {
      const seen = source.value
      return new Promise<string>((resolve) => (end = () => resolve(seen)))
    }
    void a.cache.getOrLoad('k', load, { tags: ['a'] })
    await clock.advance(10)
    source.value = 'new'
    await b.cache.invalidateTags('b')
    await clock.advance(10)
    const joined = watched(a.cache.getOrLoad('k', load, { tags: ['b'] }))
    await clock.advance(10)
    end()
    await clock.advance(10)
    end()
    await clock.advance(10)
    expect(joined.value).toBe('new')
  })
})
