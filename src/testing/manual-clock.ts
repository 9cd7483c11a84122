/** Time that moves when it is told to. */
import { durationMs } from '../core/duration.ts'
import { invalidOption } from '../core/errors.ts'
import type { Clock } from '../ports.ts'
import type { Duration } from '../api.ts'

export interface ManualClock extends Clock {
  /**
   * Moves time forward, running what falls due in its order, and resolves when what that set off
   * has come to rest (promises, and replies of an in-process store).
   */
  advance(by: Duration): Promise<void>
}

// Taken now: a test runner may replace the globals.
const { setImmediate } = globalThis

/**
 * A clock for tests. `random()` is 0: no jitter, no early refresh. Timers run only in `advance`.
 * `now`: where it starts; default 1 January 2026.
 */
export function manualClock(now: number | Date = Date.UTC(2026, 0, 1)): ManualClock {
  let time = Number(now)
  if (!Number.isFinite(time)) {
    throw invalidOption('manualClock', 'milliseconds since 1970 or a valid Date', now)
  }
  let made = 0
  const timers = new Set<{
    readonly at: number
    readonly order: number
    readonly run: () => void
  }>()
  return {
    now: () => time,
    random: () => 0,
    after: (ms, run) => {
      const timer = { at: time + Math.max(0, ms), order: made++, run }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
    async advance(by) {
      const until = time + durationMs(by, 'advance', { allowZero: true })
      for (;;) {
        await rest()
        let next:
          { readonly at: number; readonly order: number; readonly run: () => void } | undefined
        for (const timer of timers) {
          if (timer.at > until) continue
          if (
            next === undefined ||
            timer.at < next.at ||
            (timer.at === next.at && timer.order < next.order)
          ) {
            next = timer
          }
        }
        if (next === undefined) break
        timers.delete(next)
        time = Math.max(time, next.at)
        next.run()
      }
      time = until
      await rest()
    },
  }
}

/** Until all promise callbacks have run, those that they add included. */
function rest(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}
