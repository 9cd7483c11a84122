// 5,000 distinct keys at once of a source that takes 20 loads, with Redis gone: what each caller was
// told, and when.

import { setTimeout as sleep } from 'node:timers/promises'
import { startRedisServer } from '@breakwater/rig'
import { BreakwaterError, createCache } from 'breakwater'
import { answer } from '../child/child.ts'
import { storeBy } from '../outage/connect.ts'
import type { OutageClient } from '../outage/plan.ts'

export interface OverloadPlan {
  readonly client: OutageClient
  readonly keys: number
  readonly places: number
  readonly loadMs: number
  readonly queueMs: number
}

export interface Overload {
  readonly mostLoads: number
  readonly loaded: number
  readonly overloaded: number
  /** Neither a value nor `OVERLOADED`. */
  readonly others: readonly string[]
  readonly lastLoadedMs: number
  readonly lastRefusedMs: number
}

await answer<OverloadPlan, Overload>(async ({ client, keys, places, loadMs, queueMs }) => {
  const server = await startRedisServer()
  const { store } = await storeBy(client, server.port)
  let running = 0
  let mostLoads = 0
  const cache = createCache({
    namespace: 'overload',
    ttl: '10m',
    store,
    limit: { concurrency: places, queue: queueMs },
  })
  const item = cache.define({
    name: 'item',
    load: async (n: number) => {
      running += 1
      mostLoads = Math.max(mostLoads, running)
      try {
        await sleep(loadMs)
        return { n }
      } finally {
        running -= 1
      }
    },
  })
  while (cache.health().status !== 'ok') await sleep(10)
  await server.kill()
  while (cache.health().store !== 'down') await sleep(10)

  const others: string[] = []
  const loadedMs: number[] = []
  const refusedMs: number[] = []
  const ask = async (n: number): Promise<void> => {
    // Each caller's own: to make so many calls takes the process a while.
    const began = performance.now()
    try {
      const value = await item.get(n)
      if (value.n === n) loadedMs.push(performance.now() - began)
      else others.push(`asked for ${n}, got ${value.n}`)
    } catch (error) {
      const isRefused = error instanceof BreakwaterError && error.code === 'OVERLOADED'
      if (isRefused) refusedMs.push(performance.now() - began)
      else others.push(String(error))
    }
  }
  await Promise.all(Array.from({ length: keys }, (_, n) => ask(n)))
  return {
    mostLoads,
    loaded: loadedMs.length,
    overloaded: refusedMs.length,
    others,
    lastLoadedMs: Math.max(0, ...loadedMs),
    lastRefusedMs: Math.max(0, ...refusedMs),
  }
})
