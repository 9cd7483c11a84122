// A load of breakwater's, and who waits for it, in all processes: the caller who began it, and those
// who came later and are woken by the push. All get its value, or else what may be served stale.

import type { Cached } from './machine.ts'
import type { Range } from './tally.ts'
import type { World } from './world.ts'

export interface Flight {
  readonly beganAt: number
  /** None where it refreshes in the background. */
  readonly callers: 0 | 1
  /** How many have come since, and when. */
  readonly waiting: (Range & { readonly count: number })[]
}

/** Without `freshUntil` it is the load's own value; nothing: it has failed, and nothing covers that. */
export function answerFlight(
  { now, scenario, tally }: World,
  { beganAt, callers, waiting }: Flight,
  served: Pick<Cached, 'askedAt'> | Cached | undefined,
): void {
  const push = scenario.processes > 1 ? scenario.roundTripMs / 2 : 0
  const stale = served !== undefined && 'freshUntil' in served ? served : undefined
  const past = stale === undefined ? 0 : Math.max(0, now - stale.freshUntil)
  const answer = (count: number, latency: Range, own: 'loaded' | 'waited'): void =>
    tally.answer({
      kind: served === undefined ? 'failed' : stale === undefined ? own : 'stale',
      count,
      latency,
      age: served && { from: now - served.askedAt, to: now - served.askedAt },
      past: stale && { from: past, to: past },
    })
  answer(callers, { from: now - beganAt, to: now - beganAt }, 'loaded')
  for (const { from, to, count } of waiting) {
    answer(count, { from: now - to + push, to: now - from + push }, 'waited')
  }
}
