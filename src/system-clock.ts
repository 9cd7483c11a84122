/**
 * The process's own clock: milliseconds since 1970, monotonic, so that a correction of the host's
 * clock moves no deadline. The global timers are read at each call, and where a test runner has
 * replaced `Date`, its time is followed.
 */
import { longestTimerMs } from './core/lifetime.ts'
import type { Clock } from './ports.ts'

const RealDate = Date
// Half the price of a hit in memory is the clock's: no look-up of what cannot change.
const { performance } = globalThis
const { timeOrigin } = performance

export const systemClock: Clock = {
  now: () => (Date === RealDate ? timeOrigin + performance.now() : Date.now()),
  random: () => Math.random(),
  after: (ms, run) => {
    const timer = globalThis.setTimeout(run, Math.min(ms, longestTimerMs))
    // Fake timers may give a number.
    if (typeof timer === 'object') timer.unref?.()
    return () => globalThis.clearTimeout(timer)
  },
}
