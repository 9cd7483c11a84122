// Limits and switches, used at random: places always come back, and nobody hangs. `SEED` and `N` in
// the environment choose others.

import { expect, it } from 'vitest'
import {
  createCache,
  type CacheOptions,
  type Call,
  type Mode,
  type Resource,
} from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'
import { watched } from '../support/watched.ts'

it.each(
  Array.from({ length: Number(process.env.N ?? 5) }, (_, n) => n + Number(process.env.SEED ?? 1)),
)('seed %i', async (seed) => {
  let s = seed * 2654435761
  const rnd = (n: number) => {
    s = (Math.imul(s ^ (s >>> 15), 2246822507) + 3266489909) | 0
    return ((s ^ (s >>> 13)) >>> 0) % n
  }
  const clock = manualClock()
  const store = faultyStore(memoryStore())
  const pause = (ms: number) => new Promise<void>((r) => void clock.after(ms, r))
  const concurrency = 1 + rnd(3)
  const options: CacheOptions = {
    namespace: 'test',
    ttl: '300ms',
    staleWhileRevalidate: '500ms',
    staleIfError: '2s',
    clock,
    store,
    loadTimeout: '400ms',
    waitTimeout: '500ms',
    limit: {
      concurrency,
      queue: rnd(4) === 0 ? 0 : '700ms',
      ...(rnd(2) ? { perSecond: [0.7, 8, 50][rnd(3)]! } : {}),
    },
  }
  const unhandled: unknown[] = []
  const listen = (e: unknown) => void unhandled.push(e)
  process.on('unhandledRejection', listen)
  const caches = [createCache(options), createCache(options)]
  let most = 0
  const items = caches.map((cache) => {
    const one: Resource<string, string> = cache.define({
      name: 'i',
      load: async (key: string, ctx) => {
        const kind = rnd(10)
        if (kind === 0)
          await new Promise((_, no) =>
            ctx.signal.addEventListener('abort', () => no(ctx.signal.reason)),
          )
        if (kind === 1) throw new Error('no')
        if (kind === 2) await one.get(`n${rnd(4)}`).catch(() => {})
        if (kind === 3) await pause(1000)
        await pause(rnd(60))
        return key
      },
      loadMany: async (keys: readonly string[]) => {
        if (rnd(6) === 0) await pause(900)
        if (rnd(6) === 0) await one.getMany([`n${rnd(4)}`, `n${rnd(4)}`]).catch(() => {})
        await pause(rnd(60))
        return keys.map((key) => key)
      },
    })
    return one
  })
  const got: { state: string }[] = []
  const modes: (Mode | undefined)[] = [
    'normal',
    'bypass',
    'no-refresh',
    'stale-only',
    undefined,
    undefined,
    undefined,
  ]
  for (let n = 0; n < 150; n++) {
    const i = rnd(2)
    const it = items[i]!
    const key = `k${rnd(5)}`
    const controller = new AbortController()
    const calls: (Call | undefined)[] = [
      undefined,
      { signal: controller.signal },
      { timeout: '50ms' },
      { maxAge: '100ms' },
    ]
    const call = calls[rnd(4)]
    if (rnd(2)) clock.after(rnd(100), () => controller.abort(new Error('left')))
    switch (rnd(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        got.push(watched(it.get(key, call)))
        break
      case 4:
      case 5:
        got.push(watched(it.getMany(['k0', 'k1', 'k2', 'k3', 'k4'].slice(rnd(4)), call)))
        break
      case 6:
        got.push(watched(it.refresh(key, call)))
        break
      case 7:
        it.switchTo(modes[rnd(modes.length)])
        break
      case 8:
        got.push(watched(it.invalidate(key)))
        break
      case 9:
        got.push(watched(it.set(key, 's')))
        break
      case 10:
        ;[
          () => store.hang(),
          () => store.fail(),
          () => store.delay(rnd(120)),
          () => store.heal(),
          () => store.heal(),
        ][rnd(5)]!()
        break
      case 11:
        break
    }
    await clock.advance(rnd(30))
    for (const cache of caches) {
      const { running, queued } = cache.health().loads
      if (running < 0 || queued < 0) throw new Error('negative')
      most = Math.max(most, running)
    }
  }
  store.heal()
  for (const it of items) it.switchTo(undefined)
  await clock.advance('60s')
  expect(got.filter(({ state }) => state === 'pending').length).toBe(0)
  for (const cache of caches) expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  expect(most).toBeLessThanOrEqual(concurrency)
  const closing = caches.map((c) => watched(c.close()))
  await clock.advance('10s')
  expect(closing.map(({ state }) => state)).toEqual(['resolved', 'resolved'])
  await new Promise((r) => setImmediate(r))
  process.off('unhandledRejection', listen)
  expect(unhandled).toEqual([])
})
