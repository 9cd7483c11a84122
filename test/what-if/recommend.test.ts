// What is recommended meets its targets in the model that it was found with, and says so when not.

import { describe, expect, it } from 'vitest'
import { zipfShares } from '../../cli/src/what-if/model/popularity.ts'
import { recommend } from '../../cli/src/what-if/recommend.ts'
import { adviceText } from '../../cli/src/what-if/report/advice.ts'
import { rules, scenario } from './worlds.ts'

const shop = scenario({
  requestsPerSecond: 20,
  shares: zipfShares(40, 1),
  durationMs: 120_000,
  roundTripMs: 1,
  seed: 2,
})
const base = rules({ ttlMs: 60_000, earlyRefresh: { beta: 1, maxLead: 0.25 }, jitter: 0.1 })

describe('a recommendation', () => {
  it('meets its targets, with the fewest loads', () => {
    const targets = { p99Ms: 20, maxAgeMs: 60_000, atOnce: 40 }
    const found = recommend(shop, base, targets)
    const { figures, rules: own } = found.chosen
    expect(found.isMet).toBe(true)
    expect(figures.latency.p99).toBeLessThanOrEqual(20)
    expect(figures.age.max).toBeLessThanOrEqual(60_000)
    expect(figures.mostAtOnce).toBeLessThanOrEqual(40)
    expect(own.ttlMs + own.staleWhileRevalidateMs).toBeLessThanOrEqual(60_000)
    expect(own.staleWhileRevalidateMs).toBeGreaterThan(0)
    expect(own.limit.places).toBe(10) // 40 over four processes
    const without = found.without.find(({ option }) => option === 'staleWhileRevalidate')
    expect(without?.figures.latency.p99).toBeGreaterThan(20)
  })

  it('holds the fleet to a rate where a limit on loads per second is asked for', () => {
    const { chosen } = recommend(shop, base, { loadsPerSecond: 1 })
    expect(chosen.figures.loadsPerSecond).toBeLessThanOrEqual(1)
    expect(chosen.rules.limit.perSecond).toBe(1)
  })

  it('that cannot be given says what comes nearest, and by how much it misses', () => {
    const found = recommend(shop, base, { maxAgeMs: 100, p99Ms: 1 })
    expect(found.isMet).toBe(false)
    expect(found.chosen.misses.map(({ target }) => target)).toContain('maxAgeMs')
    expect(adviceText(found)).toMatch(/None of .* meets every target.*\n.*wanted.*got/)
  })

  it('is code to paste, with the options as breakwater takes them', () => {
    const text = adviceText(recommend(shop, base, { p99Ms: 20, maxAgeMs: 60_000 }))
    expect(text).toMatch(/ttl: '\d+m?s',\n {2}staleWhileRevalidate: '\d+m?s',\n/)
    expect(text).toContain('earlyRefresh: { beta: 1, maxLead: 0.25 },')
    expect(text).toContain("limit: { concurrency: 64, queue: '5s' },")
  })
})
