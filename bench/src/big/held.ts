// How long one piece of work holds the event loop, at the longest.

import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Held {
  readonly heldMs: number
  readonly wallMs: number
}

export async function held(work: () => Promise<unknown>): Promise<Held> {
  const monitor = monitorEventLoopDelay({ resolution: 1 })
  monitor.enable()
  await sleep(50)
  monitor.reset()
  // What begins in the tick of reset() is not seen.
  await sleep(10)
  const began = performance.now()
  await work()
  const wallMs = performance.now() - began
  // The last delay is told by the timer that comes after it.
  await sleep(10)
  monitor.disable()
  return { heldMs: monitor.max / 1e6, wallMs }
}
