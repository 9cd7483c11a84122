/** From a ttl to the instants of a new entry. Nothing fractional leaves here for the store. */
import type { Windows } from './decide.ts'

export interface Lifetime extends Windows {
  readonly freshUntil: number
  /** How long the store keeps the frame: ttl and the longer window, in whole ms. */
  readonly lifeMs: number
}

/** Jitter is a random share taken off the ttl, never added: entries filled together expire apart. */
export function jittered(ttlMs: number, jitter: number, random: number): number {
  return ttlMs - ttlMs * jitter * random
}

/** ttl is counted from the end of the load (`storedAt`), both windows from the end of ttl. */
export function lifetime(storedAt: number, ttlMs: number, windows: Windows): Lifetime {
  const window = Math.max(windows.staleWhileRevalidateMs, windows.staleIfErrorMs)
  return {
    freshUntil: storedAt + ttlMs,
    lifeMs: Math.max(1, Math.ceil(ttlMs + window)),
    staleWhileRevalidateMs: windows.staleWhileRevalidateMs,
    staleIfErrorMs: windows.staleIfErrorMs,
  }
}

/** The same life, ended by a change: stale as of `expiredAt`, of no use from `until` on. */
export function bounded<L extends Bounded>(life: L, by: { expiredAt: number; until: number }): L {
  const freshUntil = Math.min(life.freshUntil, by.expiredAt, by.until)
  if (by.until === Infinity) return { ...life, freshUntil }
  // Without Δ there is no early refresh: it would only load what has not settled either.
  return { ...life, ...noWindows, freshUntil, deltaMs: 0 }
}

interface Bounded extends Windows {
  readonly freshUntil: number
  readonly deltaMs: number
}

export const noWindows: Windows = { staleWhileRevalidateMs: 0, staleIfErrorMs: 0 }

/** The longest delay that a timer of Node takes (2³¹−1 ms); above it would fire at once. */
export const longestTimerMs = 2_147_483_647
