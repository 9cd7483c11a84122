// The model against the engine itself: real caches on one store are processes, the clock is moved,
// and the same requests per second arrive by chance. Jitter and early refresh are off on both sides
// (the manual clock draws zeros); what is left is who loads, who waits, and what is served how old.

import { afterEach, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'
import { randomFrom } from '../../cli/src/what-if/model/random.ts'
import { runStrategy } from '../../cli/src/what-if/model/run-strategy.ts'
import { rules, scenario } from './worlds.ts'

interface Measured {
  readonly loads: number
  readonly expiries: number
  readonly waitedShare: number
  readonly staleShare: number
  readonly latestMs: number
  readonly longestMs: number
}

const open: { close(): Promise<void> }[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((cache) => cache.close()))
})

async function measure(options: {
  perSecond: number
  processes: number
  loadMs: number
  forMs: number
  cache: Partial<CacheOptions>
}): Promise<Measured> {
  const { perSecond, processes, loadMs, forMs } = options
  const clock = manualClock(0)
  const store = memoryStore()
  const random = randomFrom(9)
  let [loads, expiries, running] = [0, 0, 0]
  const resources = await Promise.all(
    Array.from({ length: processes }, async () => {
      const cache = createCache({
        namespace: 'what-if',
        ttl: '2s',
        jitter: 0,
        earlyRefresh: false,
        store,
        clock,
        ...options.cache,
      })
      open.push(cache)
      return cache.define({
        name: 'page',
        load: async () => {
          loads++
          if (running++ === 0) expiries++
          await new Promise<void>((resolve) => clock.after(loadMs, resolve))
          running--
          return { page: loads }
        },
      })
    }),
  )
  await clock.advance(10)
  const answers: { readonly tookMs: number; readonly pastMs: number }[] = []
  const asked: Promise<unknown>[] = []
  while (clock.now() < forMs) {
    await clock.advance(Math.max(1, Math.round(random.exponential(1000 / perSecond))))
    const cameAt = clock.now()
    const resource = resources[Math.floor(random.uniform() * processes)]!
    asked.push(
      resource.lookup().then((found) => {
        if (!('freshUntil' in found)) throw new Error(`expected a value, got ${found.outcome}`)
        const pastMs = Math.max(0, clock.now() - found.freshUntil)
        answers.push({ tookMs: clock.now() - cameAt, pastMs })
      }),
    )
  }
  await clock.advance(loadMs * 2)
  await Promise.all(asked)
  const share = (of: (answer: (typeof answers)[number]) => boolean): number =>
    answers.filter(of).length / answers.length
  return {
    loads,
    expiries,
    waitedShare: share(({ tookMs }) => tookMs > 0),
    staleShare: share(({ pastMs }) => pastMs > 0),
    latestMs: Math.max(...answers.map(({ pastMs }) => pastMs)),
    longestMs: Math.max(...answers.map(({ tookMs }) => tookMs)),
  }
}

it.each([
  { perSecond: 40, processes: 2, windowMs: 0 },
  { perSecond: 40, processes: 8, windowMs: 0 },
  { perSecond: 40, processes: 4, windowMs: 1000 },
  { perSecond: 4, processes: 8, windowMs: 1000 },
])(
  'the model loads, waits and is stale as the engine is: $perSecond/s, $processes processes, window $windowMs ms',
  async ({ perSecond, processes, windowMs }) => {
    const [loadMs, forMs, ttlMs] = [300, 1_600_000 / perSecond, 2000]
    const engine = await measure({
      perSecond,
      processes,
      loadMs,
      forMs,
      cache: { staleWhileRevalidate: windowMs },
    })
    const model = runStrategy(
      'breakwater',
      scenario({
        requestsPerSecond: perSecond,
        processes,
        load: { kind: 'fixed', ms: loadMs },
        durationMs: forMs,
        start: { kind: 'empty' },
      }),
      rules({ ttlMs, staleWhileRevalidateMs: windowMs }),
    )
    expect(engine.loads / engine.expiries).toBe(1)
    expect(model.loadsPerExpiry).toBe(1)
    expect(Math.abs(model.loads - engine.loads)).toBeLessThanOrEqual(1)
    expect(engine.longestMs).toBeLessThanOrEqual(loadMs)
    expect(model.latency.max).toBeLessThan(loadMs + 1e-6)
    // Both are shares of the same kind of chance: of n requests, four standard errors.
    const near = (share: number): number =>
      4 * Math.sqrt(share / (perSecond * (forMs / 1000))) + 0.02
    expect(Math.abs(model.waitedShare - engine.waitedShare)).toBeLessThan(near(engine.waitedShare))
    expect(Math.abs(model.staleShare - engine.staleShare)).toBeLessThan(near(engine.staleShare))
    expect(engine.latestMs).toBeLessThanOrEqual(windowMs)
    expect(model.staleBy.max).toBeLessThanOrEqual(windowMs)
  },
)
