// When the first of many processes refreshes early. Each draws X = Δ·β·Exp(1), at most the cap M, once
// per fill, and refreshes at its first request after X before expiry. With requests at the rate r in
// each process, the chance that one has done so x before expiry is, with b = Δ·β,
//   F(x) = e^(−x/b) · rb/(rb + 1) · (1 − e^(−(M − x)(r + 1/b)))      for x < M, else 0.
// The first of P is drawn by inversion: (1 − F)^P = U. Nothing is drawn for the other processes.

import type { Cached, Key } from './machine.ts'
import type { World } from './world.ts'

export interface EarlyRules {
  readonly leadMs: number
  readonly capMs: number
  readonly processes: number
  /** Requests per millisecond that reach one process. */
  readonly rate: number
}

export function chanceBefore(x: number, { leadMs, capMs, rate }: EarlyRules): number {
  if (x >= capMs || leadMs <= 0) return 0
  const perLead = rate * leadMs
  return (
    Math.exp(-x / leadMs) *
    (perLead / (perLead + 1)) *
    -Math.expm1(-(capMs - x) * (rate + 1 / leadMs))
  )
}

/** How long before expiry the first refresh starts; undefined: none does. `uniform`: from 0, below 1. */
export function firstLead(rules: EarlyRules, uniform: number): number | undefined {
  const wanted = -Math.expm1(Math.log1p(-uniform) / rules.processes)
  if (chanceBefore(0, rules) <= wanted) return undefined
  let low = 0
  let high = rules.capMs
  while (high - low > 1e-6 * rules.capMs) {
    const middle = (low + high) / 2
    if (chanceBefore(middle, rules) > wanted) low = middle
    else high = middle
  }
  return low
}

/** Infinity: nobody does. */
export function firstEarlyAt(
  { now, rules, random, scenario }: World,
  key: Key,
  cached: Cached | undefined,
): number {
  if (cached === undefined || rules.earlyRefresh === undefined) return Infinity
  const { beta, maxLead } = rules.earlyRefresh
  const { processes } = scenario
  const lead = firstLead(
    {
      leadMs: beta * cached.tookMs,
      capMs: maxLead * rules.ttlMs,
      processes,
      rate: key.rate / processes,
    },
    random.uniform(),
  )
  return lead === undefined ? Infinity : Math.max(now, cached.freshUntil - lead)
}
