// What is asked of each proxy: one URL that nobody has by all at once; hits as fast as they come; and a
// page that is made anew every second under a steady rate.

import { setTimeout } from 'node:timers/promises'
import { percentile } from '../measure/statistics.ts'
import { Lane } from './lane.ts'
import type { Origin } from './origin.ts'
import { burst, bursts, lanes, pacedPerSecond, sizes, warmRequests, type Size } from './plan.ts'

export interface Figures {
  readonly originRequests: number
  readonly p50: number
  readonly p95: number
  readonly perSecond: number
}

export interface At {
  readonly port: number
  readonly origin: Origin
}

let names = 0

/** A path that nobody has asked for yet. */
function newPath(size: Size, kind: string): string {
  names += 1
  return `/${sizes[size]}/${kind}-${names}`
}

/** Several, each for another page: the most that the origin was asked for any. */
export async function coldBurst({ port, origin }: At): Promise<Figures> {
  return withLanes(port, burst, async (open) => {
    const times: number[] = []
    let most = 0
    let ms = 0
    for (let n = 0; n < bursts; n += 1) {
      const path = newPath('1 KB', 'cold')
      const began = performance.now()
      times.push(...(await Promise.all(open.map((lane) => lane.ask(path)))))
      ms += performance.now() - began
      most = Math.max(most, origin.asked(path))
    }
    return figuresOf(times, most, ms)
  })
}

/** A process of Node is many times slower until its code is compiled, which is a matter of requests. */
export async function warmUp({ port }: At): Promise<void> {
  await withLanes(port, lanes, async (open) => {
    const path = newPath('1 KB', 'warm')
    let left = warmRequests
    await Promise.all(
      open.map(async (lane) => {
        while (left-- > 0) await lane.ask(path)
      }),
    )
  })
}

export async function hits({ port, origin }: At, size: Size, ms: number): Promise<Figures> {
  return withLanes(port, lanes, async (open) => {
    const path = newPath(size, 'hit')
    // Every worker has it, and every connection has been used.
    for (let n = 0; n < 3; n += 1) await Promise.all(open.map((lane) => lane.ask(path)))
    const before = origin.asked(path)
    const times: number[] = []
    const began = performance.now()
    await Promise.all(
      open.map(async (lane) => {
        while (performance.now() - began < ms) times.push(await lane.ask(path))
      }),
    )
    return figuresOf(times, origin.asked(path) - before, performance.now() - began)
  })
}

export async function stalePeriod({ port, origin }: At, ms: number): Promise<Figures> {
  return withLanes(port, lanes, async (open) => {
    const path = newPath('1 KB', 'stale')
    await Promise.all(open.map((lane) => lane.ask(path)))
    const before = origin.asked(path)
    const times: number[] = []
    const began = performance.now()
    // Each connection by its own schedule: what a slow answer delays counts as waiting, too.
    await Promise.all(
      open.map(async (lane, at) => {
        for (let n = 0; ; n += 1) {
          const due = began + ((n * lanes + at) * 1_000) / pacedPerSecond
          if (due - began >= ms) return
          const wait = due - performance.now()
          if (wait > 0) await setTimeout(wait)
          times.push(Math.max(0, -wait) + (await lane.ask(path)))
        }
      }),
    )
    return figuresOf(times, origin.asked(path) - before, performance.now() - began)
  })
}

async function withLanes<T>(
  port: number,
  count: number,
  run: (open: readonly Lane[]) => Promise<T>,
): Promise<T> {
  const open = await Promise.all(Array.from({ length: count }, () => Lane.open(port)))
  try {
    return await run(open)
  } finally {
    for (const lane of open) lane.close()
  }
}

function figuresOf(times: readonly number[], originRequests: number, ms: number): Figures {
  return {
    originRequests,
    p50: percentile(times, 50),
    p95: percentile(times, 95),
    perSecond: (times.length * 1_000) / ms,
  }
}
