// Failures that are remembered, here and in the store, and changes by tag that make them of before.

import { describe, expect, test } from 'vitest'
import { tagRace } from '../support/tag-race.ts'
import { watched } from '../support/watched.ts'

describe('failures', () => {
  test.each(['clear', 'tags'])('%s: a failure of before is forgotten', async (how) => {
    const { clock, process, define, source, loads } = tagRace()
    const a = await process()
    const item = define(a, { errorTtl: '1m' })
    source.slow = true
    const first = watched(item.get('k'))
    await clock.advance(1)
    loads[0]!.fail()
    await clock.advance(10)
    expect(first.state).toBe('rejected')
    if (how === 'clear') await item.clear()
    else await a.cache.invalidateTags('t')
    source.slow = false
    const next = watched(item.get('k'))
    await clock.advance(10)
    expect(next).toMatchObject({ state: 'resolved' })
  })

  test.each(['clear', 'tags'])('%s in the middle of a load that fails', async (how) => {
    const { clock, process, define, source, loads } = tagRace()
    const a = await process()
    const item = define(a, { errorTtl: '1m' })
    source.slow = true
    watched(item.get('k'))
    await clock.advance(1)
    if (how === 'clear') await item.clear()
    else await a.cache.invalidateTags('t')
    source.slow = false
    const next = watched(item.get('k'))
    await clock.advance(10)
    loads[0]!.fail()
    await clock.advance(10)
    const later = watched(item.get('k'))
    await clock.advance(10)
    expect({ next, later }).toMatchObject({
      next: { state: 'resolved' },
      later: { state: 'resolved' },
    })
  })
})

// Found by the simulator: the store took no writes, so that the change had no epoch yet.
test.each(['clear', 'tags'])('%s that the store did not take ends a back-off', async (how) => {
  const { clock, process, define, source, loads } = tagRace()
  const a = await process()
  const b = await process({ storeTimeout: '100ms' })
  const [item, other] = [a, b].map((racer) => define(racer, { errorTtl: '1m' }))
  source.slow = true
  const first = watched(item!.get('k'))
  await clock.advance(1)
  loads[0]!.fail()
  await clock.advance(10)
  expect(first.state).toBe('rejected')
  b.link.hold('requests', 'bump')
  const refused = watched(how === 'clear' ? other!.clear() : b.cache.invalidateTags('t'))
  await clock.advance(50)
  // The store answers all else: it is not given up.
  await other!.peek('else')
  await clock.advance(60)
  await other!.peek('else')
  source.slow = false
  const next = watched(other!.get('k'))
  await clock.advance(10)
  expect({ refused: refused.state, next }).toMatchObject({
    refused: 'rejected',
    next: { state: 'resolved' },
  })
})

describe('clear of a resource', () => {
  test('leaves the back-off of others alone', async () => {
    const { process } = tagRace()
    const a = await process({ store: undefined })
    let asked = 0
    const failing = a.cache.define({
      name: 'failing',
      load: (): number => {
        asked++
        throw new Error('no')
      },
      errorTtl: '1m',
    })
    const other = a.cache.define({ name: 'other', load: () => 1 })
    await expect(failing.get()).rejects.toThrow('no')
    await other.clear()
    await expect(failing.get()).rejects.toThrow('no')
    expect(asked).toBe(1)
  })
})

test('after a clear that ends a back-off, one process loads', async () => {
  const { clock, process, define, loads, source } = tagRace()
  const all = [await process(), await process(), await process(), await process()]
  const items = all.map((racer) => define(racer, { errorTtl: '1m' }))
  source.slow = true
  const first = watched(items[0]!.get('k'))
  await clock.advance(1)
  loads.shift()!.fail()
  await clock.advance(10)
  expect(first.state).toBe('rejected')
  await all[0]!.cache.clear()
  await clock.advance(10)
  for (const { link } of all) link.hold('replies', 'acquire')
  const next = items.map((item) => watched(item.get('k')))
  await clock.advance(10)
  for (const { link } of all) {
    link.release('replies', 'acquire')
    link.hold('replies', 'acquire')
  }
  await clock.advance(10)
  for (const { link } of all) link.release('replies', 'acquire')
  await clock.advance(10)
  const begun = loads.length
  for (let n = 0; n < 20; n++) {
    await clock.advance(100)
    for (const load of loads.splice(0)) load.end()
  }
  expect(next.map(({ state }) => state)).toEqual(Array(4).fill('resolved'))
  expect(begun).toBe(1)
})
