/**
 * What works for a cache from outside of it (refreshes ahead, change capture) and ends with it. They
 * know the engine, and the engine knows only this of them.
 */
import type { Cache, Health } from '../api.ts'
import type { Engine } from './engine.ts'

export interface Companion {
  /** What it adds to the cache's health: synchronous, no I/O. */
  health?(now: number): CompanionHealth
  /** Takes nothing up any more. What is under way may end, and is waited for within the bound of `close`. */
  close(): Promise<void> | void
}

export interface CompanionHealth {
  readonly late?: Health['late']
  readonly changes?: Health['changes']
  /** False: `degraded`. */
  readonly isWell?: boolean
}

const engines = new WeakMap<Cache, Engine>()

export function tellEngine(cache: Cache, engine: Engine): void {
  engines.set(cache, engine)
}

/** `undefined`: no cache of this copy of breakwater. */
export function engineOf(cache: Cache): Engine | undefined {
  return engines.get(cache)
}
