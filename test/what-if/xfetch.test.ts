// XFetch without a lock (Vattani, Chierichetti, Lowenstein, PVLDB 8, 2015). With Poisson requests at
// the rate λ those that refresh x before expiry are a Poisson process of the mass λβΔ·e^(−x/βΔ). At
// the first of them that mass is Exp(1), M; until its load ends, Δ later, it grows to M·e^(1/β). So the
// loads of one expiry are 1 + Poisson(M·c) with c = e^(1/β) − 1: geometric, of mean e^(1/β) and
// variance c + c².

import { expect, it } from 'vitest'
import { chanceBefore, firstLead } from '../../cli/src/what-if/model/early.ts'
import { randomFrom } from '../../cli/src/what-if/model/random.ts'
import { runStrategy } from '../../cli/src/what-if/model/run-strategy.ts'
import { rules, scenario } from './worlds.ts'

const sigmas = 4

it.each([0.5, 1, 2])(
  'XFetch alone runs e^(1/β) loads per expiry of a busy key, for β = %s',
  (beta) => {
    const more = Math.exp(1 / beta) - 1
    const { loadsPerExpiry, expiries, waitedShare } = runStrategy(
      'xfetch',
      scenario({ requestsPerSecond: 10_000, durationMs: 2e7, seed: 7 }),
      rules({ earlyRefresh: { beta, maxLead: 1 } }),
    )
    expect(expiries).toBeGreaterThan(1900)
    const tolerance = sigmas * Math.sqrt((more + more ** 2) / expiries)
    expect(Math.abs(loadsPerExpiry - (more + 1))).toBeLessThan(tolerance)
    // They who refresh, and nobody else.
    expect(waitedShare).toBeLessThan(1e-3)
  },
)

it('the lead before expiry is βΔ(ln λβΔ + γ) on average', () => {
  const [lambda, loadMs, ttlMs] = [1, 200, 10_000]
  const { age } = runStrategy(
    'xfetch',
    scenario({ requestsPerSecond: lambda * 1000, durationMs: 4e7 }),
    rules({ ttlMs, earlyRefresh: { beta: 1, maxLead: 1 } }),
  )
  // A value is served from its fill until the first of the next loads ends: uniform ages up to then.
  const lead = loadMs * (Math.log(lambda * loadMs) + 0.5772)
  const oldest = ttlMs - lead + 2 * loadMs
  expect(age.p50).toBeGreaterThan((oldest / 2) * 0.97)
  expect(age.p50).toBeLessThan((oldest / 2) * 1.06)
})

it('a key that is seldom asked for is refreshed early as seldom as e^(−λβΔ) says', () => {
  const lambda = 1 / 1000
  const { expiries, waitedShare, requests } = runStrategy(
    'xfetch',
    scenario({ requestsPerSecond: lambda * 1000, durationMs: 1e8 }),
    rules({ earlyRefresh: { beta: 1, maxLead: 1 } }),
  )
  // Each expiry is met by a request that waits, early or late: what differs is the ttl that it ends.
  expect(waitedShare * requests).toBeGreaterThanOrEqual(expiries)
  expect(expiries * (10_000 + 200 + 1000)).toBeGreaterThan(1e8 * 0.97)
})

it('the first of many processes to refresh early is drawn as if each had been', () => {
  const rule = { leadMs: 200, capMs: 2500, processes: 8, rate: 0.01 }
  const random = randomFrom(3)
  const runs = 20_000
  const one = (): number => {
    const refreshAt = -Math.min(random.exponential(rule.leadMs), rule.capMs)
    return refreshAt + random.exponential(1 / rule.rate)
  }
  const each = Array.from({ length: runs }, () => {
    const first = Math.min(...Array.from({ length: rule.processes }, one))
    return first < 0 ? -first : undefined
  })
  const drawn = Array.from({ length: runs }, () => firstLead(rule, random.uniform()))
  for (const x of [0, 50, 200, 400, 800, 1600]) {
    const share = (leads: readonly (number | undefined)[]): number =>
      leads.filter((lead) => lead !== undefined && lead >= x).length / runs
    const expected = 1 - (1 - chanceBefore(x, rule)) ** rule.processes
    const tolerance = sigmas * Math.sqrt(0.25 / runs)
    expect(Math.abs(share(each) - expected)).toBeLessThan(tolerance)
    expect(Math.abs(share(drawn) - expected)).toBeLessThan(tolerance)
  }
})
