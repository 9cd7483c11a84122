/**
 * When a fresh entry is refreshed ahead of its expiry: XFetch (Vattani, Chierichetti, Lowenstein,
 * "Optimal Probabilistic Cache Stampede Prevention", PVLDB 8, 2015), refresh at
 * `expiry − Δ·β·Exp(1)`. One draw per process and fill, made from the process's seed and the
 * frame's stamp: no state, and a hit costs one comparison. XFetch alone starts e ≈ 2.7 refreshes
 * per expiry; that only one of them loads is the lease's work.
 */
import { hashOf } from './hash.ts'

export interface EarlyRefresh {
  readonly beta: number
  /** Largest lead, as a share of the ttl. */
  readonly maxLead: number
}

export function refreshAt(
  entry: { readonly storedAt: number; readonly freshUntil: number; readonly deltaMs: number },
  rules: EarlyRefresh | undefined,
  draw: number,
): number {
  if (rules === undefined) return entry.freshUntil
  const cap = (entry.freshUntil - entry.storedAt) * rules.maxLead
  const lead = Math.min(entry.deltaMs * rules.beta * draw, cap)
  return entry.freshUntil - Math.max(0, lead)
}

/** From a clock's random number; 0 stays 0, and gives draws of 0: no early refresh. */
export function seedOf(random: number): number {
  const seed = Math.floor(random * 0x1_0000_0000) >>> 0
  return seed === 0 ? 0 : seed | 1
}

/**
 * Exp(1), the same for the same seed and stamp. An odd seed permutes the 32-bit hashes, so that
 * each process has its own even spread over stamps.
 */
export function exponentialDraw(seed: number, stamp: string): number {
  let hash = hashOf(stamp)
  hash = Math.imul(hash ^ (hash >>> 16), seed)
  return -Math.log1p(-((hash >>> 0) / 0x1_0000_0000))
}

/** Δ, smoothed over fills: run times are heavy-tailed, and one slow run should not move the lead far. */
export function smoothed(previousMs: number | undefined, sampleMs: number): number {
  return previousMs === undefined ? sampleMs : previousMs + (sampleMs - previousMs) * 0.3
}
