// What callers leave behind: nothing. The heap is compared before and after, over so many keys that
// one forgotten record per key would show.

import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { createCache, type CacheOptions } from '../../src/index.ts'
import { faultyStore, manualClock, memoryStore } from '../../src/testing/index.ts'

setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc') as () => void

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

async function heapBytes(): Promise<number> {
  for (let n = 0; n < 4; n++) {
    await turn()
    gc()
  }
  return process.memoryUsage().heapUsed
}

function small(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const link = faultyStore(memoryStore())
  const cache = createCache({
    namespace: 'leaks',
    ttl: '1s',
    clock,
    memory: { maxEntries: 10 },
    limit: { concurrency: 1_000, queue: '1s' },
    ...options,
  })
  return { clock, link, cache }
}

const perRound = 1_000

/** Growth in bytes per key, after a warm-up with other keys. */
async function growth(
  run: (key: string) => Promise<unknown>,
  rest: () => Promise<void>,
  { rounds = 20, warm = 4 } = {},
): Promise<number> {
  const round = async (name: string): Promise<void> => {
    await Promise.all(Array.from({ length: perRound }, (_, n) => run(`${name}:${n}`)))
    await rest()
  }
  for (let n = 0; n < warm; n++) await round(`warm ${n}`)
  const before = await heapBytes()
  for (let n = 0; n < rounds; n++) await round(`round ${n}`)
  const after = await heapBytes()
  return (after - before) / (rounds * perRound)
}

/** One forgotten record per key, its name included, would be more. */
const mostPerKey = 50

describe('nothing is left behind by', () => {
  it('100,000 gets of keys that are loaded', async () => {
    const { cache, clock } = small()
    const item = cache.define({ name: 'item', load: async (id: string) => id })
    expect(
      await growth(
        (key) => item.get(key),
        () => clock.advance(10),
        { rounds: 100 },
      ),
    ).toBeLessThan(mostPerKey)
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  }, 120_000)

  it('loads that fail', async () => {
    const { cache, clock } = small({ errorTtl: '1s' })
    const item = cache.define({
      name: 'item',
      load: async (_id: string): Promise<string> => {
        throw new Error('no')
      },
    })
    const run = (key: string) => item.get(key).catch(() => {})
    expect(await growth(run, () => clock.advance(10), { warm: 12 })).toBeLessThan(mostPerKey)
  }, 120_000)

  it('callers who abort, on one signal that outlives them and on their own', async () => {
    const { cache, clock } = small()
    const lasting = new AbortController()
    let listeners = 0
    const { signal } = lasting
    const add = signal.addEventListener.bind(signal)
    const remove = signal.removeEventListener.bind(signal)
    signal.addEventListener = (...args: Parameters<typeof add>) => (listeners++, add(...args))
    signal.removeEventListener = (...args: Parameters<typeof remove>) => (
      listeners--,
      remove(...args)
    )
    const item = cache.define({
      name: 'item',
      load: (id: string, ctx) =>
        id.endsWith('7')
          ? Promise.resolve(id)
          : new Promise<string>((_, reject) => {
              ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason as Error))
            }),
    })
    const run = async (key: string) => {
      const own = new AbortController()
      const hung = item.get(key, { signal: own.signal }).catch(() => {})
      await item.get(`${key}7`, { signal, timeout: '1s' })
      own.abort()
      await hung
    }
    expect(await growth(run, () => clock.advance(10))).toBeLessThan(mostPerKey)
    expect(listeners).toBe(0)
    expect(cache.health().loads).toEqual({ running: 0, queued: 0 })
  }, 120_000)

  it('reads, writes and invalidations while the store is gone', async () => {
    const clock = manualClock()
    const link = faultyStore(memoryStore())
    const cache = createCache({
      namespace: 'leaks',
      ttl: '1s',
      clock,
      store: link,
      memory: { maxEntries: 10 },
      limit: { concurrency: 1_000, queue: '1s' },
    })
    await clock.advance(10)
    link.hang()
    const first = cache.getOrLoad('first', () => 1)
    await clock.advance(200)
    await first
    const item = cache.define({ name: 'item', load: async (id: string) => id })
    const run = async (key: string) => {
      await item.get(key)
      // 2,000 keys, over and over: what waits for the store is bounded by keys, not by calls.
      const again = key.slice(-3)
      await item.invalidate(again).catch(() => {})
      await item.set(`s${again}`, key).catch(() => {})
    }
    expect(await growth(run, () => clock.advance(10))).toBeLessThan(mostPerKey)
  }, 120_000)

  it('invalidations and writes that the store took', async () => {
    const clock = manualClock()
    const store = memoryStore()
    const cache = createCache({
      namespace: 'leaks',
      ttl: '1s',
      clock,
      store,
      memory: { maxEntries: 10 },
    })
    await clock.advance(10)
    const run = async (key: string) => {
      await cache.invalidate(key)
      await cache.set(key, 1, { ttl: 1 })
      await cache.invalidate(key)
    }
    // What the last minute's invalidations were is remembered, up to 10,000: the warm-up fills that.
    const perKey = await growth(run, () => clock.advance('61s'), { warm: 12 })
    expect(perKey).toBeLessThan(mostPerKey)
  }, 120_000)

  it('keys that are asked for with a very long storeTimeout', async () => {
    const clock = manualClock()
    const store = memoryStore()
    const cache = createCache({
      namespace: 'leaks',
      ttl: '1s',
      clock,
      store,
      storeTimeout: '1h',
      memory: { maxEntries: 10 },
    })
    await clock.advance(10)
    const perKey = await growth(
      (key) => cache.peek(key),
      () => clock.advance(1),
    )
    expect(perKey).toBeLessThan(mostPerKey)
  }, 120_000)
})
