// For what it is made: a list, or whatever gives one, read anew each period.

import { describe, expect, it } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'

const minute = 60_000

describe('args', () => {
  it.each([
    ['a list', ['a', 'b']],
    ['a function of a list', () => ['a', 'b']],
    ['a function of a Set', () => new Set(['a', 'b'])],
    ['an asynchronous function', async () => ['a', 'b']],
    [
      'a generator',
      function* () {
        yield 'a'
        yield 'b'
      },
    ],
    [
      'an asynchronous generator',
      async function* () {
        yield 'a'
        yield 'b'
        yield 'a'
      },
    ],
  ])('may be %s', async (_, args) => {
    // prettier-ignore
    const { process, run, loads } = aheadRig()
    process({ args: args as never })
    await run(2_000)
    expect(loads.map(({ id }) => id).sort()).toEqual(['a', 'b']) // prettier-ignore
  })

  it('are read anew each period: new ones are made at once, old ones no more', async () => {
    const { process, run, of } = aheadRig()
    let list = ['a', 'b']
    process({ args: () => list })
    await run(2_000)
    list = ['b', 'c']
    await run(minute + 5_000)
    expect(of('c').length).toBeGreaterThanOrEqual(1)
    const before = of('a').length
    await run(5 * minute)
    expect(of('a').length).toBe(before)
  })

  it('that cannot be had are asked for again soon, and what there was before goes on', async () => {
    const { process, run, of } = aheadRig()
    let fails = false
    let reads = 0
    const { cache } = process({
      args: () => {
        reads++
        if (fails) throw new Error('no list')
        return ['a']
      },
    })
    const told: [string, unknown][] = []
    cache.on('callbackFailed', ({ callback, error }) => told.push([callback, error]))
    await run(2_000)
    fails = true
    const before = of('a').length
    const readBefore = reads
    await run(5 * minute)
    expect(of('a').length).toBeGreaterThanOrEqual(before + 4)
    expect(reads - readBefore).toBeGreaterThan(10)
    expect(reads - readBefore).toBeLessThan(25)
    expect(told[0]).toMatchObject(['precompute.args', { message: 'no list' }])
  })

  it.each([undefined, null, 7, 'text', {}])('that are %j are told, not made', async (given) => {
    const { process, run, loads } = aheadRig()
    const { cache } = process({ args: (() => given) as never })
    const told: unknown[] = []
    cache.on('callbackFailed', ({ error }) => told.push(error))
    await run(100)
    expect(String(told[0])).toContain('expected an iterable')
    expect(loads).toEqual([])
  })

  it('of which some are no keys: those are told, and the others made', async () => {
    const { process, run, loads } = aheadRig()
    const { cache } = process({ args: (() => ['a', NaN, () => 1, 'b']) as never })
    const told: unknown[] = []
    cache.on('callbackFailed', ({ error }) => told.push(error))
    await run(1_000)
    expect(loads.map(({ id }) => id).sort()).toEqual(['a', 'b']) // prettier-ignore
    expect(told).toHaveLength(2)
  })

  it('that hang keep nobody from what there was before, and nothing open', async () => {
    const { process, run, of } = aheadRig()
    let first = true
    const { cache } = process({
      args: async () => {
        if (first) {
          first = false
          return ['a']
        }
        return new Promise<never>(() => {})
      },
    })
    await run(4 * minute)
    expect(of('a').length).toBeGreaterThanOrEqual(4)
    await cache.close()
  })

  it('of a list that is changed later are those of the definition', async () => {
    const { process, run, loads } = aheadRig()
    const list = ['a']
    process({ args: list })
    list.push('b')
    await run(3 * minute)
    expect(new Set(loads.map(({ id }) => id))).toEqual(new Set(['a']))
  })

  it('five thousand of them are spread over the period', async () => {
    const { process, run, source, loads } = aheadRig()
    source.ms = 0
    process({ args: Array.from({ length: 5_000 }, (_, n) => `k${n}`) }, { memory: { maxEntries: 20_000 } }) // prettier-ignore
    await run(minute)
    const from = loads.length
    await run(minute, 1_000)
    const tenths = Array.from({ length: 10 }, () => 0)
    const begun = loads[from]!.at
    for (const { at } of loads.slice(from)) tenths[Math.min(9, Math.floor((at - begun) / 6_000))]!++
    for (const tenth of tenths) expect(tenth).toBeLessThan(750)
  })
})

describe('progress', () => {
  it('is told as it begins, at each tenth, and at the end', async () => {
    const { process, run } = aheadRig()
    const { cache } = process({ args: Array.from({ length: 20 }, (_, n) => `k${n}`) })
    const told: string[] = []
    cache.on('precompute', ({ phase, keys, refreshed }) =>
      told.push(`${phase} ${refreshed}/${keys}`),
    )
    await run(10_000)
    expect(told[0]).toBe('begun 0/20')
    expect(told).toContain('progress 10/20')
    expect(told).toContain('ended 20/20')
  })
})
