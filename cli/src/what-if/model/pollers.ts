// Those who poll for a value: each finds it at its first look after it is there. They came evenly over
// the time that it took, so how many have looked how often is known without asking any of them.

import type { Key } from './machine.ts'
import type { World } from './world.ts'

/** Above, looks are spread evenly instead of counted one by one. */
const mostLooks = 64

export function answerPollers(
  world: World,
  key: Key,
  { since, askedAt, isOutdated }: { since: number; askedAt: number; isOutdated: boolean },
): void {
  const { now, rules, scenario, tally } = world
  const until = world.untilEnd(now)
  if (until <= since) return
  const trip = scenario.roundTripMs
  const cycle = rules.lock.pollMs + 2 * trip
  const count = world.arrivals(key, since, now)
  const age = { from: now - askedAt, to: now - askedAt + cycle }
  const answer = (part: number, from: number, to: number): void =>
    tally.answer({ kind: 'waited', count: part, latency: { from, to }, age, isOutdated })
  const [soonest, longest] = [now - until, now - since]
  const looks = Math.ceil(longest / cycle)
  if (looks > mostLooks) return answer(count, soonest + cycle / 2, longest + cycle / 2)
  for (let look = 1; look <= looks; look++) {
    const waited = Math.min(look * cycle, longest) - Math.max((look - 1) * cycle, soonest)
    const share = Math.max(0, waited) / (longest - soonest)
    answer(count * share, look * cycle + trip, look * cycle + trip)
  }
}
