// Without the store: no request loads, the background at most once per process and period, and no burst.

import { describe, expect, it, test } from 'vitest'
import { aheadRig } from '../support/ahead-rig.ts'

const minute = 60_000

describe('the store is gone', () => {
  it('for less than a period: what memory has is served, and nothing is loaded', async () => {
    const { process, run, loads } = aheadRig()
    const fleet = [process({ every: '10s' }), process({ every: '10s' }), process({ every: '10s' })]
    await run(12_000)
    for (const { item } of fleet) await item.get('a')
    const at = loads.length
    for (const { store } of fleet) store.hang()
    await run(150)
    for (let n = 0; n < 20; n++) {
      await run(100)
      for (const { item } of fleet) expect((await item.lookup('a')).outcome).toBe('hit')
    }
    expect(loads.length).toBe(at)
    for (const { store } of fleet) store.heal()
    await run(10_000)
    expect(loads.every(({ reason }) => reason === 'scheduled')).toBe(true)
  })

  it('for long: once per process and period, and a request gets a value all the time', async () => {
    const { process, run, loads, of } = aheadRig()
    const fleet = Array.from({ length: 4 }, () => process({ every: '10s' }))
    await run(12_000)
    for (const { item } of fleet) for (const id of ['a', 'b']) await item.get(id)
    for (const { store } of fleet) store.fail()
    const at = loads.length
    for (let n = 0; n < 600; n++) {
      await run(100)
      for (const { item } of fleet) {
        expect((await item.lookup('a')).value.id).toBe('a')
        expect((await item.lookup('b')).value.id).toBe('b')
      }
    }
    const during = loads.slice(at)
    expect(during.every(({ reason }) => reason === 'scheduled')).toBe(true)
    for (const { number } of fleet) {
      const own = during.filter((load) => load.process === number && load.id === 'a')
      expect(own.length).toBeGreaterThanOrEqual(3)
      expect(own.length).toBeLessThanOrEqual(7)
      for (let n = 1; n < own.length; n++)
        expect(own[n]!.at - own[n - 1]!.at).toBeGreaterThan(5_000)
    }
    for (const { store } of fleet) store.heal()
    await run(5_000)
    const back = of('a').length
    await run(30_000)
    expect(of('a').length - back).toBeLessThanOrEqual(4)
  })

  it('what a process does not hold, it does not load', async () => {
    const { process, run, loads } = aheadRig()
    const args = Array.from({ length: 50 }, (_, n) => `k${n}`)
    const none = { memory: false } as const
    const fleet = [process({ every: '10s', args }, none), process({ every: '10s', args }, none)]
    await run(12_000)
    for (const { store } of fleet) store.hang()
    const at = loads.length
    await run(20_000)
    expect(loads.length).toBe(at)
  })
})

test('T082 a host that slept for ten periods makes each key once, and not all at once', async () => {
  const { process, clock, run, loads } = aheadRig()
  const args = Array.from({ length: 200 }, (_, n) => `k${n}`)
  process({ args }, { ttl: '1h' })
  await run(2 * minute)
  const at = loads.length
  // Timers come late, all of them together.
  const { now } = clock
  const slept = 10 * minute
  clock.now = () => now() + slept
  await run(2 * minute)
  const after = loads.slice(at)
  const perKey = new Map<string, number>()
  for (const { id } of after) perKey.set(id, (perKey.get(id) ?? 0) + 1)
  expect(perKey.size).toBe(200)
  expect(Math.max(...perKey.values())).toBeLessThanOrEqual(3)
  const first = after.filter((load) => load.at - after[0]!.at < 500)
  expect(first.length).toBeLessThan(60)
})

test('no more than sixteen are under way at once in a process, and half of what the limit allows', async () => {
  for (const [concurrency, most] of [
    [100, 16],
    [6, 3],
    [1, 1],
  ] as const) {
    // prettier-ignore
    const { process, run, source, loads, since } = aheadRig()
    source.ms = 1_000
    process({ args: Array.from({ length: 40 }, (_, n) => `k${n}`) }, { limit: { concurrency } })
    let worst = 0
    for (let n = 0; n < 20; n++) {
      await run(100)
      worst = Math.max(worst, loads.filter(({ at }) => since() - at < 1_000).length)
    }
    expect(worst).toBeLessThanOrEqual(most + 1)
    expect(worst).toBeGreaterThanOrEqual(most)
  }
})
