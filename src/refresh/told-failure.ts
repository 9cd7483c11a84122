/**
 * A refresh has failed elsewhere. Whoever waits for it here is told at once, as those are who wait
 * where it ran, and so is who comes before it may be tried again.
 */
import type { AheadDefinition } from '../cache/ahead.ts'
import type { Engine } from '../cache/engine.ts'
import { callbackFailed } from '../cache/failure.ts'
import { fromWire, readAsOf } from '../cache/wire-error.ts'
import type { BusMessage } from '../ports.ts'

export function toldFailure(
  engine: Engine,
  { source }: Pick<AheadDefinition, 'source'>,
  failed: BusMessage & { readonly type: 'failed' },
): void {
  const { key, backoffMs } = failed
  const { rules } = source
  // Else a request loads for itself, and learns of failures by that.
  if (rules.precompute?.onMiss !== 'wait' || backoffMs <= 0) return
  if (engine.tags.isGoneAfter(readAsOf(failed.error).asOf, source.labels)) return
  const error = errorOf(engine, { source }, failed)
  const until = engine.clock.now() + backoffMs
  engine.cooldowns.set(key, { until, tick: engine.tags.tick, error, covered: false })
}

/** What those are told who have waited for it. */
export function errorOf(
  engine: Engine,
  { source }: Pick<AheadDefinition, 'source'>,
  { key, error }: { readonly key: string; readonly error: string },
): unknown {
  const { name, rules } = source
  return fromWire(readAsOf(error).text, rules, key, (fault) => {
    callbackFailed(engine, { name, key }, 'errors', fault)
  })
}
