// The source, its queue and chance: small worlds whose figures can be worked out on paper.

import { describe, expect, it } from 'vitest'
import { Agenda } from '../../cli/src/what-if/model/agenda.ts'
import { Histogram } from '../../cli/src/what-if/model/histogram.ts'
import { Queue } from '../../cli/src/what-if/model/queue.ts'
import { randomFrom } from '../../cli/src/what-if/model/random.ts'
import { Source } from '../../cli/src/what-if/model/source.ts'

function run(
  source: Source,
  loads: readonly (readonly [at: number, ms: number, count?: number])[],
) {
  const ended: number[] = []
  const waiting = [...loads]
  for (let now = 0; now < Infinity;) {
    const beginsAt = waiting[0]?.[0] ?? Infinity
    now = Math.min(beginsAt, source.nextAt)
    if (now === Infinity) break
    if (beginsAt > source.nextAt) {
      source.endNext(now)
      continue
    }
    const [, ms, count = 1] = waiting.shift()!
    source.begin(now, { count, ms, onEnd: () => ended.push(Math.round(source.now)) })
  }
  return ended
}

describe('a source', () => {
  it.each([
    { given: 'a free place', places: 1, loads: [[0, 100]], ends: [100] },
    {
      given: 'a place for each',
      places: 2,
      loads: [
        [0, 100],
        [50, 100],
      ],
      ends: [100, 150],
    },
    {
      given: 'two that share one',
      places: 1,
      loads: [
        [0, 100],
        [0, 100],
      ],
      ends: [200, 200],
    },
    {
      given: 'one that joins halfway',
      places: 1,
      loads: [
        [0, 100],
        [50, 100],
      ],
      ends: [150, 200],
    },
    {
      given: 'a short one beside a long',
      places: 1,
      loads: [
        [0, 300],
        [0, 50],
      ],
      ends: [100, 350],
    },
    { given: 'a group of four in two places', places: 2, loads: [[0, 100, 4]], ends: [200] },
    { given: 'no bound', places: Infinity, loads: [[0, 100, 1e6]], ends: [100] },
  ] as const)('with $given ends loads at $ends', ({ places, loads, ends }) => {
    expect(run(new Source(places), loads)).toEqual(ends)
  })
})

describe('a queue', () => {
  const rules = { places: 2, deadlineMs: Infinity, perSecond: Infinity }

  it('lets as many in as it has places, and the others in their order', () => {
    const queue = new Queue(new Agenda(), rules)
    const log: string[] = []
    const enter = (name: string, count: number): void =>
      queue.enter({ now: 0, count, go: (n) => log.push(`${name}${n}`), refuse: () => {} })
    enter('a', 3)
    enter('b', 1)
    queue.leave(10, 1)
    queue.leave(20, 1)
    expect(log).toEqual(['a2', 'a1', 'b1'])
    expect(queue.most).toBe(2)
  })

  it('refuses who has waited for longer than the deadline', () => {
    const agenda = new Agenda()
    const queue = new Queue(agenda, { ...rules, deadlineMs: 5000 })
    const refused: number[] = []
    queue.enter({ now: 0, count: 5, go: () => {}, refuse: (n) => refused.push(n) })
    expect(agenda.nextAt).toBe(5000)
    agenda.take()?.()
    expect(refused).toEqual([3])
    expect(queue.length).toBe(0)
  })

  it('lets no more in per second than it is told', () => {
    const agenda = new Agenda()
    const queue = new Queue(agenda, { ...rules, places: Infinity, perSecond: 10 })
    let let_ = 0
    queue.enter({ now: 0, count: 100, go: (n) => (let_ += n), refuse: () => {} })
    expect(let_).toBe(10)
    while (agenda.nextAt <= 1000) agenda.take()?.()
    expect(let_).toBeGreaterThanOrEqual(19)
    expect(let_).toBeLessThanOrEqual(20)
  })
})

describe('chance', () => {
  it.each([0.1, 3, 50, 5000])('Poisson arrivals of mean %s have that mean and variance', (mean) => {
    const random = randomFrom(11)
    const runs = 20_000
    const draws = Array.from({ length: runs }, () => random.poisson(mean))
    const average = draws.reduce((sum, n) => sum + n, 0) / runs
    const variance = draws.reduce((sum, n) => sum + (n - average) ** 2, 0) / runs
    expect(Math.abs(average - mean)).toBeLessThan(4 * Math.sqrt(mean / runs))
    expect(Math.abs(variance / mean - 1)).toBeLessThan(0.1)
  })

  it('repeats itself for a seed, and for no other', () => {
    const draws = (seed: number): number[] => {
      const random = randomFrom(seed)
      return Array.from({ length: 5 }, () => random.uniform())
    }
    expect(draws(5)).toEqual(draws(5))
    expect(draws(5)).not.toEqual(draws(6))
  })

  it('percentiles are within half a percent, whatever the weights', () => {
    const histogram = new Histogram()
    for (let ms = 1; ms <= 1000; ms++) histogram.add(ms, 1e6)
    for (const percent of [50, 95, 99]) {
      expect(Math.abs(histogram.percentile(percent) / (percent * 10) - 1)).toBeLessThan(0.006)
    }
    expect(histogram.max).toBe(1000)
  })
})
