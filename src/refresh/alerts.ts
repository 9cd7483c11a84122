/** When somebody is told that a refresh is missing, and that it has come after all. */
import type { Health } from '../api.ts'
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Engine } from '../cache/engine.ts'
import { callbackFailed } from '../cache/failure.ts'
import type { AlertRules } from '../cache/precompute-rules.ts'
import type { RefreshAlert } from '../core/events.ts'
import type { Upkeep } from './upkeep.ts'

export interface AlertsOf {
  readonly engine: Engine
  readonly rules: AlertRules
  /** The store's time. */
  now(): number
}

/** Holds one key against its bounds. */
export function watch(of: AlertsOf, key: Upkeep): void {
  const now = of.now()
  const { dueAt, expiresAt, excusedUntil } = key
  if (now < dueAt) return
  const { lateMs, expiringMs } = of.rules
  if (now >= Math.max(dueAt, excusedUntil) + lateMs) raise(of, key, 'late')
  if (expiresAt !== undefined && now >= expiresAt - expiringMs) raise(of, key, 'expiring')
}

/** One more refresh of it has failed, here or elsewhere. */
export function failed(of: AlertsOf, key: Upkeep, error: unknown): void {
  key.failures++
  key.error = error
  if (key.failures >= of.rules.failures) raise(of, key, 'failed')
}

/** It was refreshed, by whomever. */
export function resolve(of: AlertsOf, key: Upkeep): void {
  if (key.alerted.size > 0) tell(of, key, 'resolved')
  key.alerted.clear()
  key.failures = 0
  key.error = undefined
  key.retryAt = -Infinity
}

export type Late = Health['late'][number]

/** Those that were not refreshed when they were due, or are about to end. */
export function lateOf({ source }: AheadDefinition, keys: Iterable<Upkeep>): readonly Late[] {
  const late: Late[] = []
  // Of many, and asked by every probe: most are not.
  for (const { alerted, target, expiresAt, dueAt } of keys) {
    if (!alerted.has('late') && !alerted.has('expiring')) continue
    late.push({ name: source.name, key: target.key, expiresAt: Math.round(expiresAt ?? dueAt) })
  }
  return late
}

function raise(of: AlertsOf, key: Upkeep, kind: 'failed' | 'late' | 'expiring'): void {
  if (key.alerted.has(kind)) return
  key.alerted.add(kind)
  key.target.source.counters.alerts++
  tell(of, key, kind)
}

function tell({ engine, rules }: AlertsOf, key: Upkeep, kind: RefreshAlert['kind']): void {
  const { target, failures, error, dueAt, expiresAt } = key
  const { name } = target.source
  const alert: RefreshAlert = {
    kind,
    name,
    key: target.key,
    id: `${engine.namespace}:${target.key}`,
    failures,
    ...(error === undefined ? {} : { error }),
    dueAt: Math.round(dueAt),
    expiresAt: expiresAt === undefined ? undefined : Math.round(expiresAt),
  }
  engine.listeners.tell('alert', () => alert)
  const { notify } = rules
  if (notify === undefined) return
  const threw = (fault: unknown): void => {
    callbackFailed(engine, { name, key: target.key }, 'precompute.alerts.notify', fault)
  }
  try {
    // It may well be asynchronous, whatever its type says.
    Promise.resolve(notify(alert as never)).catch(threw)
  } catch (fault) {
    threw(fault)
  }
}
