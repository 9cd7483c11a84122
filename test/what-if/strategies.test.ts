// Each strategy where its figures are known: from arithmetic, or from drawing every request.

import { describe, expect, it } from 'vitest'
import { zipfShares } from '../../cli/src/what-if/model/popularity.ts'
import { randomFrom } from '../../cli/src/what-if/model/random.ts'
import { runStrategy } from '../../cli/src/what-if/model/run-strategy.ts'
import { strategyIds } from '../../cli/src/what-if/model/scenario.ts'
import { rules, scenario } from './worlds.ts'

describe('without protection', () => {
  // From some 320 per second on they are drawn in groups.
  it.each([10, 100, 1000, 20_000])(
    'every request of a load time loads: 1 + λΔ per expiry, at %s/s',
    (perSecond) => {
      const world = scenario({ requestsPerSecond: perSecond })
      const { loadsPerExpiry, expiries } = runStrategy('none', world, rules())
      // Those that begin during the first load may outlast it, and are part of the same expiry.
      const during = perSecond * 0.2
      const tolerance = 4 * Math.sqrt(during / expiries)
      expect(Math.abs(loadsPerExpiry - (1 + during))).toBeLessThan(tolerance)
    },
  )

  it('counts in bulk what drawing each request would count', () => {
    const [lambda, ttl, load, until] = [0.02, 10_000, 200, 2e6]
    const random = randomFrom(5)
    const ends: number[] = []
    let [loads, hits, freshUntil] = [0, 0, 0]
    for (let now = 0; now < until; now += random.exponential(1 / lambda)) {
      while (ends[0]! <= now) freshUntil = ends.shift()! + ttl
      if (now < freshUntil) hits++
      else {
        loads++
        ends.push(now + load)
      }
    }
    const figures = runStrategy(
      'none',
      scenario({ requestsPerSecond: lambda * 1000, durationMs: until }),
      rules(),
    )
    expect(Math.abs(figures.loads - loads)).toBeLessThan(5 * Math.sqrt(loads * 6))
    expect(Math.abs(figures.hitShare - hits / (hits + loads))).toBeLessThan(0.01)
  })

  it('a source that is asked for more than it can do does not come back, and that is said', () => {
    const figures = runStrategy(
      'none',
      scenario({
        requestsPerSecond: 50_000,
        shares: zipfShares(500, 0.5),
        start: { kind: 'empty' },
        durationMs: 60_000,
        source: { places: 4, connections: Infinity },
      }),
      rules(),
    )
    expect(figures.backlogMs).toBeGreaterThan(30_000)
    expect(figures.errorShare).toBeGreaterThan(0.5)
  })
})

it('coalescing in each process runs as many loads per expiry as there are processes', () => {
  const { loadsPerExpiry, mostAtOnce } = runStrategy(
    'coalescing',
    scenario({ requestsPerSecond: 10_000, processes: 16 }),
    rules(),
  )
  expect(loadsPerExpiry).toBeGreaterThan(15.9)
  expect(loadsPerExpiry).toBeLessThanOrEqual(16)
  expect(mostAtOnce).toBe(16)
})

describe('with a lock', () => {
  it('one loads, and who polls waits for at most a load and a poll', () => {
    const { loadsPerExpiry, latency, hitShare } = runStrategy('lock-poll', scenario(), rules())
    expect(loadsPerExpiry).toBe(1)
    expect(latency.max).toBe(200)
    expect(latency.p99).toBeGreaterThan(50)
    expect(hitShare).toBeCloseTo(10_000 / 10_200, 2)
  })

  it('that ends before its load, a second one gets in', () => {
    const slow = scenario({ load: { kind: 'fixed', ms: 2500 } })
    const lock = { ...rules().lock, lifeMs: 1000 }
    const { loadsPerExpiry } = runStrategy('lock-poll', slow, rules({ lock }))
    expect(loadsPerExpiry).toBe(3)
  })

  it('losers take the stale copy, and query together where there is none', () => {
    const calm = runStrategy('lock-retry', scenario(), rules())
    expect(calm.loadsPerExpiry).toBe(1)
    expect(calm.staleShare).toBeCloseTo(200 / 10_200, 2)
    const cold = runStrategy(
      'lock-retry',
      scenario({ start: { kind: 'empty' }, durationMs: 5000 }),
      rules(),
    )
    expect(cold.loads).toBeGreaterThan(4) // those of the first 80 ms look again before it is there
    expect(cold.loads).toBeLessThan(20)
  })
})

describe('breakwater', () => {
  it('runs one load per expiry, with any number of processes', () => {
    for (const processes of [1, 8, 10_000]) {
      const { loadsPerExpiry, mostAtOnce } = runStrategy(
        'breakwater',
        scenario({ requestsPerSecond: 50_000, processes }),
        rules({ earlyRefresh: { beta: 1, maxLead: 0.25 }, jitter: 0.1 }),
      )
      expect(loadsPerExpiry).toBe(1)
      expect(mostAtOnce).toBe(1)
    }
  })

  it('lets nobody wait inside staleWhileRevalidate, and serves nothing that is past it', () => {
    const figures = runStrategy('breakwater', scenario(), rules({ staleWhileRevalidateMs: 5000 }))
    expect(figures.waitedShare).toBe(0)
    expect(figures.latency.max).toBe(0)
    expect(figures.staleShare).toBeGreaterThan(0.01)
    expect(figures.staleBy.max).toBeLessThanOrEqual(5000)
  })

  it('covers failures inside staleIfError, and asks a failing source once per back-off', () => {
    const failing = scenario({ failures: 0.5, seed: 3 })
    const bare = runStrategy('breakwater', failing, rules())
    const covered = runStrategy('breakwater', failing, rules({ staleIfErrorMs: 3_600_000 }))
    expect(bare.errorShare).toBeGreaterThan(0.005)
    expect(covered.errorShare).toBe(0)
    expect(covered.loadsPerSecond).toBeLessThanOrEqual(1)
  })

  it('never serves what a write has made outdated, where the recipes do', () => {
    const written = scenario({ writesPerSecond: 1, requestsPerSecond: 200 })
    expect(runStrategy('breakwater', written, rules()).outdated).toBe(0)
    expect(runStrategy('none', written, rules()).outdated).toBeGreaterThan(0)
    expect(runStrategy('lock-poll', written, rules()).outdated).toBeGreaterThan(0)
  })

  it('holds the source to the limit, and refuses who would wait for too long', () => {
    const flushed = scenario({
      requestsPerSecond: 5000,
      shares: zipfShares(2000, 0),
      start: { kind: 'empty' },
      durationMs: 10_000,
      source: { places: 4, connections: Infinity },
    })
    const limit = { places: 2, queueMs: 5000, perSecond: Infinity }
    const figures = runStrategy('breakwater', flushed, rules({ limit }))
    expect(figures.mostAtOnce).toBe(8)
    expect(figures.errorShare).toBeGreaterThan(0)
  })

  it('whose holder dies has its waiters wait for the lease, and one of them take over', () => {
    const deadly = scenario({ deaths: 0.3, seed: 2 })
    const own = runStrategy('breakwater', deadly, rules({ leaseMs: 1500 }))
    expect(own.mostAtOnce).toBe(1)
    expect(own.latency.max).toBeGreaterThan(1500)
    expect(own.errorShare).toBeLessThan(0.001) // they who began the loads that died
    const locked = runStrategy('lock-poll', deadly, rules())
    expect(locked.latency.max).toBeGreaterThan(5000) // the recipe's lock is not renewed: it must be long
    const served = rules({ leaseMs: 1500, staleWhileRevalidateMs: 60_000 })
    expect(runStrategy('breakwater', deadly, served).waitedShare).toBe(0)
  })

  it('that makes values ahead asks once per period, and no request waits', () => {
    const figures = runStrategy('breakwater', scenario(), rules({ ttlMs: 30_000, everyMs: 10_000 }))
    expect(figures.loads).toBe(60)
    expect(figures.waitedShare).toBe(0)
  })
})

it('a run is its seed', () => {
  for (const id of strategyIds) {
    const of = (seed: number) =>
      runStrategy(id, scenario({ seed, durationMs: 60_000, shares: zipfShares(20, 1) }), rules())
    expect(of(4)).toEqual(of(4))
    expect(of(4)).not.toEqual(of(5))
  }
})

it('a million requests per second over 10,000 processes are simulated without drawing them', () => {
  const figures = runStrategy(
    'breakwater',
    scenario({
      requestsPerSecond: 1e6,
      shares: zipfShares(5000, 1),
      processes: 10_000,
      durationMs: 60_000,
    }),
    rules({ ttlMs: 60_000, staleWhileRevalidateMs: 30_000, jitter: 0.1 }),
  )
  expect(figures.requests).toBeGreaterThan(59_900_000)
  expect(figures.requests).toBeLessThan(60_100_000)
  expect(figures.loads).toBeLessThan(50_000)
})
