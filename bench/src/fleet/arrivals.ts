// An open loop: requests arrive at random instants (a Poisson process) whether or not those before
// them have been answered, so a pause of the cache is paid by all who arrive during it. Which key,
// by Zipf's law: the first is asked for most. The same seed gives the same requests.

import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'
import { now, type TrafficOrder } from './messages.ts'

/** Resolves when the last request has been answered. */
export async function arrivals(
  order: TrafficOrder,
  ask: (key: string, intended: number) => Promise<void>,
): Promise<void> {
  const random = seeded(order.seed)
  const keyOf = zipf(order.keys)
  const asked: Promise<void>[] = []
  const end = order.at + order.seconds * 1_000
  let due = order.at
  for (;;) {
    due -= (Math.log(1 - random()) / order.perSecond) * 1_000
    if (due >= end) break
    await until(due, order.exact)
    asked.push(ask(keyOf(random()), due))
  }
  await Promise.all(asked)
}

async function until(due: number, exact: boolean): Promise<void> {
  for (let wait = due - now(); wait > 0; wait = due - now()) {
    if (!exact) await sleep(wait)
    else if (wait > 3) await sleep(wait - 2)
    else await turn()
  }
}

function zipf(keys: number): (draw: number) => string {
  let total = 0
  const upTo = Array.from({ length: keys }, (_, rank) => (total += 1 / (rank + 1)))
  return (draw) => `key-${upTo.findIndex((sum) => sum >= draw * total)}`
}

/** Mulberry32. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
