// Changes by tag that meet loads, publishes, writes and each other in the narrowest places.

import { describe, expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'
import { watched } from '../support/watched.ts'

describe('a load that two changes by tag overtake', () => {
  test.each([
    ['with a store', {}],
    ['alone', { store: undefined }],
  ])('answers nobody who came after the first of them: %s', async (_, options) => {
    const { clock, process, define, loads, source } = tagRace()
    const a = await process(options)
    const item = define(a)
    source.slow = true
    const before = watched(item.get('k'))
    await clock.advance(1)
    source.value = 'new'
    await a.cache.invalidateTags('t')
    const between = watched(item.get('k'))
    await clock.advance(1)
    await a.cache.invalidateTags('t')
    source.slow = false
    loads[0]!.end()
    await clock.advance(10)
    expect(before.value).toBe('old')
    expect(between.value).toBe('new')
  })
})

describe('a load whose publish is under way when a tag of it changes', () => {
  test('answers nobody who comes after that: changed elsewhere', async () => {
    const { clock, process, define, loads, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const item = define(a)
    source.slow = true
    const before = watched(item.get('k'))
    await clock.advance(1)
    a.link.hold('replies', 'publish')
    loads[0]!.end()
    await clock.advance(1)
    expect(before.value).toBe('old')
    source.value = 'new'
    source.slow = false
    await b.cache.invalidateTags('t')
    await clock.advance(10)
    expect(a.heard.some(({ type }) => type === 'bumped')).toBe(true)
    const after = watched(item.get('k'))
    await clock.advance(10)
    a.link.releaseAll()
    await clock.advance(10)
    expect(after.value).toBe('new')
  })

  test('answers nobody who comes after that: changed here', async () => {
    const { clock, process, define, loads, source } = tagRace()
    const a = await process()
    const item = define(a)
    source.slow = true
    const before = watched(item.get('k'))
    await clock.advance(1)
    a.link.hold('replies', 'publish')
    loads[0]!.end()
    await clock.advance(1)
    expect(before.value).toBe('old')
    source.value = 'new'
    source.slow = false
    await a.cache.invalidateTags('t')
    const after = watched(item.get('k'))
    await clock.advance(10)
    a.link.releaseAll()
    await clock.advance(10)
    expect(after.value).toBe('new')
  })
})

describe('a change of our own that is slow to reach the store', () => {
  test('hides none that overtook it', async () => {
    const { clock, process, define, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const item = define(a)
    a.link.hold('requests', 'bump')
    const own = watched(a.cache.invalidateTags('t'))
    await clock.advance(1)
    // Loaded after our own change was made, before that of the other.
    expect(await item.get('k')).toBe('old')
    await clock.advance(1)
    source.value = 'new'
    a.link.holdBus()
    await b.cache.invalidateTags('t')
    a.link.release('requests', 'bump')
    await clock.advance(1)
    expect(own.state).toBe('resolved')
    a.link.releaseBus()
    await clock.advance(10)
    expect(a.heard.filter(({ type }) => type === 'bumped')).toHaveLength(2)
    expect(await item.get('k')).toBe('new')
  })
})

describe('a process that missed more than one answer holds', () => {
  test('looks up anew what it had looked up before', async () => {
    const { clock, process, define, source } = tagRace({ labels: 1_000, marks: 3 })
    const b = await process()
    await define(b).get('k')
    for (let n = 0; n < 5; n++) await b.cache.invalidateTags(`other ${n}`)
    const a = await process() // there are more changes than one answer holds
    const item = define(a)
    expect(await item.get('k')).toBe('old')
    await clock.advance(10)
    a.link.loseBus()
    source.value = 'new'
    await b.cache.invalidateTags('t')
    for (let n = 0; n < 5; n++) await b.cache.invalidateTags(`other ${n}`)
    a.link.regainBus()
    await clock.advance(10)
    expect(await item.get('k')).toBe('new')
  })
})

describe('set', () => {
  test('while it is asked what has changed: a change that is made meanwhile is for its value, too', async () => {
    const { clock, process, define, source } = tagRace()
    const [a, b] = [await process(), await process()]
    const item = define(a)
    const there = define(b)
    a.link.loseBus() // what it knows of tags is not current
    a.link.hold('requests', 'epochs')
    const set = watched(item.set('k', 'old'))
    await clock.advance(1)
    source.value = 'new'
    await b.cache.invalidateTags('t')
    a.link.releaseAll()
    await clock.advance(10)
    expect(set.state).toBe('resolved')
    expect(await there.get('k')).toBe('new')
    expect(await item.get('k')).toBe('new')
  })

  test('before invalidateTags of its own process: its value is gone', async () => {
    const { clock, process, define, source } = tagRace()
    const a = await process()
    const item = define(a)
    a.link.loseBus() // what it knows of tags is not current
    a.link.hold('requests', 'epochs')
    const set = watched(item.set('k', 'old'))
    await clock.advance(1)
    source.value = 'new'
    await a.cache.invalidateTags('t')
    a.link.releaseAll()
    await clock.advance(10)
    expect(set.state).toBe('resolved')
    expect(await item.get('k')).toBe('new')
  })
})

// A loads after its own change was made; B's change overtakes it in the store; A, whose bus is lost,
// asks what has changed and is told one epoch, its own, which hides B's.
test('a change of our own hides none that overtook it from who asks for news, either', async () => {
  const { clock, process, define, source } = tagRace()
  const [a, b] = [await process(), await process()]
  const item = define(a)
  a.link.loseBus()
  a.link.hold('requests', 'bump')
  const own = watched(a.cache.invalidateTags('t'))
  await clock.advance(1)
  expect(await item.get('k')).toBe('old')
  await clock.advance(1)
  source.value = 'new'
  await b.cache.invalidateTags('t')
  a.link.release('requests', 'bump')
  await clock.advance(1)
  expect(own.state).toBe('resolved')
  expect(await item.get('another')).toBe('new') // asks for news
  expect(await item.get('k')).toBe('new')
})

// A sets, and asks first what has changed; B changes a tag of it; the key of the epochs is lost; A's
// question begins it anew, later than B's change, which nobody can tell it of any more.
test('a set that a change overtakes is not valid for the loss of the epochs in between', async () => {
  const { clock, process, define, source, tags } = tagRace()
  const [a, b] = [await process(), await process()]
  const [here, there] = [define(a), define(b)]
  a.link.loseBus()
  a.link.hold('requests', 'epochs')
  const set = watched(here.set('k', 'old'))
  await clock.advance(1)
  source.value = 'new'
  await b.cache.invalidateTags('t')
  tags.lose()
  a.link.releaseAll()
  await clock.advance(10)
  expect(set.state).toBe('resolved')
  expect(await there.get('k')).toBe('new')
  const cold = await process()
  expect(await define(cold).get('k')).toBe('new')
  // And a set of after that is kept.
  await here.set('k', 'set')
  expect(await define(await process()).get('k')).toBe('set')
})
