// Once per key and period in the whole fleet, whoever is alive: in virtual time, with draws that differ.

import { describe, expect, it, test } from 'vitest'
import { aheadRig, gaps } from '../support/ahead-rig.ts'

const minute = 60_000

describe.each([1, 3, 10])('%i processes', (count) => {
  it('load each key once per period, and no request does', async () => {
    const { process, run, loads, of } = aheadRig({ seed: count })
    const fleet = Array.from({ length: count }, () => process({ args: ['a', 'b', 'c'] }))
    await run(5_000)
    const before = loads.length
    for (let n = 0; n < 10; n++) {
      await run(minute)
      for (const { item } of fleet) for (const id of ['a', 'b', 'c']) await item.get(id)
    }
    expect(before).toBe(3)
    expect(loads).toHaveLength(3 + 30)
    for (const id of ['a', 'b', 'c']) {
      // The first of them is on its way to the key's own time.
      for (const gap of gaps(of(id)).slice(1))
        expect(Math.abs(gap - minute)).toBeLessThan(minute / 20)
    }
    expect(new Set(loads.map(({ reason }) => reason))).toEqual(new Set(['scheduled']))
    for (const { cache } of fleet) await cache.close()
  })
})

test('a process that is killed is replaced within two periods, and nothing is loaded twice in one', async () => {
  const { process, run, loads, of } = aheadRig()
  const [first, second, third] = [process({}), process({}), process({})]
  await run(3 * minute)
  const winner = of('a').at(-1)!.process
  const killed = [first, second, third].find(({ number }) => number === winner)!
  // As by SIGKILL: it says nothing any more.
  killed.store.hang()
  await killed.cache.close({ timeout: 0 }).catch(() => {})
  const at = loads.length
  await run(4 * minute)
  const after = loads.slice(at)
  for (const id of ['a', 'b']) {
    expect(after.filter((load) => load.id === id).length).toBeGreaterThanOrEqual(3)
    expect(Math.max(...gaps(of(id)))).toBeLessThan(2 * minute)
    expect(Math.min(...gaps(of(id)).slice(1))).toBeGreaterThan(minute / 2)
  }
})

test('T016 every process has the new value in memory as soon as it is made, without asking for it', async () => {
  const { process, run, clock } = aheadRig()
  const fleet = [process({}), process({}), process({})]
  await run(2_000)
  for (const { item } of fleet) await item.get('a')
  for (let n = 0; n < 5; n++) {
    await run(minute)
    const seen = await Promise.all(fleet.map(({ item }) => item.lookup('a')))
    expect(new Set(seen.map(({ value }) => value.n)).size).toBe(1)
    expect(seen.every((answer) => 'tier' in answer && answer.tier === 'memory')).toBe(true)
    const [answer] = seen
    expect('storedAt' in answer! && clock.now() - answer.storedAt).toBeLessThanOrEqual(minute * 1.1)
  }
})

test('a process that takes no part loads nothing, and has the values', async () => {
  const { process, run, loads } = aheadRig()
  process({})
  const bystander = process({}, { precompute: false })
  await run(3 * minute)
  expect((await bystander.item.lookup('a')).outcome).toBe('hit')
  expect(loads.filter((load) => load.process === bystander.number)).toEqual([])
})

test('without a store, one process makes its own', async () => {
  const { process, run, of } = aheadRig()
  process({}, { alone: true })
  await run(10 * minute)
  expect(of('a').length).toBeGreaterThanOrEqual(10)
  expect(of('a').length).toBeLessThanOrEqual(11)
  expect(Math.max(...gaps(of('a')))).toBeLessThanOrEqual(1.25 * minute)
})

test('values are renewed by what the last load has said: previous is there, as for an ETag', async () => {
  const { process, run, of } = aheadRig()
  process({})
  await run(3 * minute)
  expect(of('a').map(({ hasPrevious }) => hasPrevious)).toEqual([false, true, true, true])
})

test('after it was invalidated a value is made again before anyone asks, once', async () => {
  const { process, run, of } = aheadRig()
  const [one, other] = [process({}), process({})]
  await run(2_000)
  expect(of('a')).toHaveLength(1)
  await one.item.invalidate('a')
  await run(500)
  expect(of('a')).toHaveLength(2)
  expect((await other.item.lookup('a')).outcome).toBe('hit')
  // And it has begun its life anew: not made again in this period.
  await run(minute / 4)
  expect(of('a').length).toBeLessThanOrEqual(3)
})

test('T061 a refresh that an invalidation overtakes stores nothing, and is made again', async () => {
  const { process, run, of, source } = aheadRig()
  const { item } = process({})
  await run(2_000)
  source.ms = 500
  await item.invalidate('a')
  await run(200)
  const during = of('a').length
  source.answer = () => ({ id: 'a', n: -1 })
  await item.invalidate('a')
  await run(2_000)
  expect(of('a').length).toBe(during + 1)
  expect((await item.get('a')).n).toBe(-1)
})

test('clear() is followed by all of them', async () => {
  const { process, run, loads } = aheadRig()
  const { item } = process({ args: ['a', 'b', 'c'] })
  process({ args: ['a', 'b', 'c'] })
  await run(2_000)
  const at = loads.length
  await item.clear()
  await run(1_000)
  expect(loads.slice(at).map(({ id }) => id).sort()).toEqual(['a', 'b', 'c']) // prettier-ignore
})

test('a value that somebody sets counts as this period’s', async () => {
  const { process, run, of } = aheadRig()
  const { item } = process({ args: ['a'] })
  await run(2_000)
  const due = of('a').length
  for (let n = 0; n < 20; n++) {
    await item.set('a', { id: 'a', n: 77 })
    await run(10_000)
  }
  expect(of('a').length).toBe(due)
})
