/** What one process tells of itself to who asks over the bus. */
import type { Health } from '../api.ts'
import type { Counters } from '../core/events.ts'

export interface ProcessName {
  readonly pid: number
  readonly host: string
}

/** What one process tells of itself. */
export interface Told extends ProcessName {
  /** Of the cache: what its tokens, and so the leases it holds, begin with. */
  readonly id: string
  /** How long there has been this cache. */
  readonly uptimeMs: number
  readonly status: Health['status']
  readonly store: Health['store']
  readonly bus: Health['bus']
  readonly loads: Health['loads'] & { readonly limit: number; readonly abandoned: number }
  /** The most asked for; one-off keys are `''`. */
  readonly definitions: Readonly<Record<string, DefinitionTold>>
  /** How many definitions there was no room for. */
  readonly left: number
}

/** Counters that are not 0, and of this moment: */
export interface DefinitionTold extends Partial<Counters> {
  /** Callers who wait for a load, here or elsewhere. */
  readonly waiting?: number
  /** Loads that run here. */
  readonly loading?: number
}
