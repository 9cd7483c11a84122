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
  { source }: AheadDefinition,
  failed: BusMessage & { readonly type: 'failed' },
): void {
  const { key, backoffMs } = failed
  const { name, rules } = source
  // Else a request loads for itself, and learns of failures by that.
  if (rules.precompute?.onMiss !== 'wait' || backoffMs <= 0) return
  const { asOf, text } = readAsOf(failed.error)
  if (engine.tags.isGoneAfter(asOf, source.labels)) return
  const error = fromWire(text, rules, key, (fault) => {
    callbackFailed(engine, { name, key }, 'errors', fault)
  })
  const until = engine.clock.now() + backoffMs
  engine.cooldowns.set(key, { until, tick: engine.tags.tick, error, covered: false })
}
