// All that a run of the lab found out: what `--json` prints, and what table and report show.

import type { FaultRow } from '../faults/fault-row.ts'
import type { Disturbance } from '../live/disturbance.ts'
import type { Figures } from '../run/figures.ts'
import type { Measured } from './measured.ts'
import type { Verdict } from './judge.ts'

export interface Setting {
  readonly cores: number
  readonly node: string
  readonly postgres: string
  readonly redis: string | undefined
  readonly processes: number
  readonly connections: number
  readonly orders: number
  readonly queryMs: number
  readonly queriesPerSecond: number
  readonly hotPerSecond: number
  readonly unrelatedPerSecond: number
  readonly ttlMs: number
  readonly runMs: number
  readonly timeoutMs: number
}

export interface Result {
  readonly setting: Setting
  readonly contenders: readonly Figures[]
  /** For `breakwater simulate --lab`. */
  readonly measured: readonly Measured[]
  readonly faults: readonly FaultRow[]
  /** What somebody did by the buttons of the live page: then the figures are no measurement. */
  readonly disturbances: readonly Disturbance[]
  /** What this run cannot show, and why. */
  readonly notes: readonly string[]
  readonly verdict: Verdict
}

/** One paragraph on what was done, for the terminal and the report. */
export function describe(setting: Setting): string {
  return (
    `${groundOf(setting)} Each contender starts with the value cached and runs ` +
    `${setting.runMs / 1000} s with a ttl of ${setting.ttlMs / 1000} s; on the way a write ` +
    `invalidates. ${machineOf(setting)}`
  )
}

/** The same for free play. */
export function describePlay(setting: Setting): string {
  return (
    `${groundOf(setting)} breakwater serves with a ttl of ${setting.ttlMs / 1000} s, until somebody ` +
    `stops it. ${machineOf(setting)}`
  )
}

function groundOf(setting: Setting): string {
  const rate = Math.round(setting.hotPerSecond)
  return (
    `${setting.processes} API processes share ${setting.connections} connections to PostgreSQL ` +
    `${setting.postgres}. The trending query takes ${Math.round(setting.queryMs)} ms alone over ` +
    `${setting.orders.toLocaleString('en')} orders; the database manages ` +
    `${setting.queriesPerSecond.toFixed(1)} of them per second. ${rate} requests per second ask for ` +
    `it, ${setting.unrelatedPerSecond} for a product page that is not cached.`
  )
}

function machineOf({ cores, node, redis }: Setting): string {
  return `${cores} cores, Node ${node}, ${redis === undefined ? 'no Redis' : `Redis ${redis}`}.`
}
