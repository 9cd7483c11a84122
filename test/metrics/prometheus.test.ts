// What a scrape says, against what was done; and what many caches, names and closings do to it.

import { Counter, Registry } from 'prom-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { prometheusMetrics } from '../../src/metrics/prometheus.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

function opened(options: Partial<CacheOptions> = {}): Cache {
  const cache = createCache({ namespace: 'shop', ttl: '60s', jitter: 0, ...options })
  onTestFinished(() => cache.close({ timeout: 0 }))
  return cache
}

/** Lines of the exposition as a record: `name{labels}` to value. */
async function scraped(registry: Registry): Promise<Record<string, number>> {
  const lines = (await registry.metrics()).split('\n')
  const samples = lines.filter((line) => line !== '' && !line.startsWith('#'))
  return Object.fromEntries(
    samples.map((line) => {
      const at = line.lastIndexOf(' ')
      return [line.slice(0, at), Number(line.slice(at + 1))]
    }),
  )
}

/** A scrape reads what there was up to 20 ms ago. */
const anotherScrape = () => new Promise((resolve) => setTimeout(resolve, 25))

const of = (metric: string, labels: Record<string, string>): string =>
  `${metric}{${Object.entries({ namespace: 'shop', ...labels })
    .map(([name, value]) => `${name}="${value}"`)
    .join(',')}}`

describe('a scrape', () => {
  it('tells requests by outcome and tier, loads by reason and result, and what was saved', async () => {
    const registry = new Registry()
    const clock = manualClock()
    const store = memoryStore()
    const cache = opened({ clock, store, staleWhileRevalidate: '10s', earlyRefresh: false })
    prometheusMetrics({ cache, registry })
    let fails = false
    const item = cache.define({
      name: 'item',
      load: async (id: number) => {
        await new Promise<void>((resolve) => void clock.after(20, resolve))
        if (fails) throw new Error('down')
        return id === 2 ? null : id
      },
    })
    const both = Promise.all([item.get(1), item.get(1)])
    await clock.advance(50)
    await both
    await item.get(1)
    const none = item.get(2)
    await clock.advance(50)
    await none
    await item.invalidate(2)
    await clock.advance('62s')
    fails = true
    await item.get(1)
    await clock.advance(50)
    await expect(failing(item.get(3))).resolves.toBe('down')
    const got = await scraped(registry)
    const requests = (outcome: string, tier: string) =>
      got[of('cache_requests_total', { name: 'item', outcome, tier })]
    expect(requests('loaded', 'source')).toBe(3)
    expect(requests('hit', 'memory')).toBe(1)
    expect(requests('stale', 'memory')).toBe(1)
    expect(requests('failed', 'none')).toBe(1)
    const loads = (reason: string, result: string) =>
      got[of('cache_loads_total', { name: 'item', reason, result })]
    expect([loads('miss', 'ok'), loads('miss', 'failed'), loads('stale', 'failed')]).toEqual([
      2, 1, 1,
    ])
    const one = (metric: string) => got[of(metric, { name: 'item' })]
    // One joined, one hit, one stale: three calls for which nothing was loaded.
    expect(one('cache_loads_saved_total')).toBe(3)
    expect(one('cache_negative_answers_total')).toBe(1)
    expect(one('cache_refresh_failures_total')).toBe(1)
    expect(one('cache_lock_acquired_total')).toBe(4)
    expect(one('cache_load_seconds_count')).toBe(2)
    expect(one('cache_load_callers_sum')).toBe(3)
    expect(one('cache_staleness_seconds_count')).toBe(1)
    expect(one('cache_staleness_seconds_sum')).toBeCloseTo(2, 0)
    expect(got[of('cache_stale_served_total', { name: 'item', cause: 'revalidate' })]).toBe(1)
    expect(got[of('cache_publishes_total', { name: 'item', result: 'ok' })]).toBe(2)
    expect(got[of('cache_invalidations_total', { name: 'item', by: 'key' })]).toBe(1)
    expect(
      got[of('cache_store_bytes_total', { name: 'item', direction: 'written' })],
    ).toBeGreaterThan(60)
    expect(got[`cache_store_up{namespace="shop"}`]).toBe(1)
    expect(got[`cache_memory_entries{namespace="shop"}`]).toBe(1)

    async function failing(call: Promise<unknown>): Promise<string> {
      const failed = call.then(
        () => 'no',
        ({ message }: Error) => message,
      )
      await clock.advance(50)
      return failed
    }
  })

  it('T156 keeps fresh, stale and negative answers apart', async () => {
    const clock = manualClock()
    const registry = new Registry()
    const cache = opened({ clock, staleWhileRevalidate: '1h', earlyRefresh: false })
    prometheusMetrics({ cache, registry })
    const item = cache.define({
      name: 'item',
      load: (id: number) => (id > 0 ? id : null),
      ttl: '10s',
      negativeTtl: '10s',
    })
    for (const id of [1, 1, 0, 0]) await item.get(id)
    await clock.advance('11s')
    const stale = [item.get(1), item.get(1)]
    await Promise.all(stale)
    const got = await scraped(registry)
    expect(got[of('cache_requests_total', { name: 'item', outcome: 'hit', tier: 'memory' })]).toBe(
      2,
    )
    expect(
      got[of('cache_requests_total', { name: 'item', outcome: 'stale', tier: 'memory' })],
    ).toBe(2)
    expect(got[of('cache_negative_answers_total', { name: 'item' })]).toBe(2)
    expect(got[of('cache_staleness_seconds_sum', { name: 'item' })]).toBeCloseTo(2, 1)
  })

  it('keeps errors that are answers, and callers who left, from failures', async () => {
    const registry = new Registry()
    const cache = opened()
    prometheusMetrics({ cache, registry })
    const item = cache.define({
      name: 'item',
      load: (id: number) => (id > 0 ? new Promise(() => {}) : Promise.reject(new Error(`${id}`))),
      isFailure: (error) => (error as Error).message !== '0',
    })
    const leaving = new AbortController()
    const calls = [item.get(0), item.get(-1), item.get(1, { signal: leaving.signal })]
    setImmediate(() => leaving.abort())
    await Promise.allSettled(calls)
    const got = await scraped(registry)
    const told = ['failed', 'answer_error', 'aborted'].map(
      (outcome) => got[of('cache_requests_total', { name: 'item', outcome, tier: 'none' })],
    )
    expect(told).toEqual([1, 1, 1])
  })

  it('T027 tells each failed refresh behind a stale answer, and when one was last right', async () => {
    const clock = manualClock()
    const registry = new Registry()
    const cache = opened({
      clock,
      ttl: '1s',
      staleWhileRevalidate: '1h',
      errorBackoff: '1s',
      earlyRefresh: false,
    })
    prometheusMetrics({ cache, registry })
    let fails = false
    const errors: unknown[] = []
    cache.on('loadFailed', ({ reason, error }) => errors.push([reason, String(error)]))
    const item = cache.define({
      name: 'item',
      load: (id: number) => (fails ? Promise.reject(new Error('upstream')) : id),
    })
    await item.get(1)
    fails = true
    for (let n = 0; n < 3; n++) {
      await clock.advance('2s')
      await item.get(1)
      await item.get(1)
    }
    await clock.advance(10)
    const got = await scraped(registry)
    expect(errors).toEqual(Array.from({ length: 3 }, () => ['stale', 'Error: upstream']))
    expect(got[of('cache_refresh_failures_total', { name: 'item' })]).toBe(3)
    const last = got[of('cache_last_load_timestamp_seconds', { name: 'item' })]!
    expect(Math.abs(last - Date.now() / 1_000)).toBeLessThan(60)
  })
})

describe('labels', () => {
  it('T154 never hold a key, and one-off keys share one name', async () => {
    const registry = new Registry()
    const cache = opened()
    prometheusMetrics({ cache, registry })
    const item = cache.define({ name: 'item', load: (id: string) => id })
    for (let n = 0; n < 300; n++) {
      await item.get(`user-${n}`)
      await cache.getOrLoad(`session-${n}`, () => n)
    }
    const text = await registry.metrics()
    expect(text).not.toMatch(/user-|session-/)
    expect(text.split('\n').length).toBeLessThan(300)
    const got = await scraped(registry)
    expect(
      got[of('cache_requests_total', { name: '(one-off)', outcome: 'loaded', tier: 'source' })],
    ).toBe(300)
  })

  it('T154 are bounded, although definitions are made without an end', async () => {
    const registry = new Registry()
    const cache = opened()
    prometheusMetrics({ cache, registry })
    for (let n = 0; n < 700; n++) {
      await cache.define({ name: `of-user-${n}`, load: (id: number) => id }).get(1)
    }
    const got = await scraped(registry)
    const names = new Set(Object.keys(got).map((sample) => /[{,]name="([^"]*)"/.exec(sample)?.[1]))
    expect(names.size).toBeLessThan(510)
    const loaded = Object.entries(got).filter(([sample]) =>
      /^cache_requests_total\{.*outcome="loaded"/.test(sample),
    )
    expect(loaded.reduce((sum, [, value]) => sum + value, 0)).toBe(700)
    expect(got[of('cache_lock_lost_total', { name: '(others)' })]).toBe(0)
  })

  it('T126 may be any name of a definition', async () => {
    const registry = new Registry()
    const cache = opened()
    prometheusMetrics({ cache, registry })
    for (const name of ['__proto__', 'constructor', 'a "b"\n\\c', 'toString']) {
      await cache.define({ name, load: (id: number) => id }).get(1)
    }
    const got = await scraped(registry)
    for (const name of ['__proto__', 'constructor', 'a \\"b\\"\\n\\\\c', 'toString']) {
      expect(got[of('cache_requests_total', { name, outcome: 'loaded', tier: 'source' })]).toBe(1)
    }
  })
})

describe('one registry', () => {
  it('has several caches, and those of one namespace are summed up', async () => {
    const registry = new Registry()
    const caches = ['shop', 'shop', 'other'].map((namespace) => opened({ namespace }))
    for (const cache of caches) {
      prometheusMetrics({ cache, registry })
      await cache.define({ name: 'item', load: (id: number) => id }).get(1)
    }
    const got = await scraped(registry)
    const name = 'item'
    const loaded = { outcome: 'loaded', tier: 'source' }
    expect(got[of('cache_requests_total', { name, ...loaded })]).toBe(2)
    expect(got[of('cache_requests_total', { namespace: 'other', name, ...loaded })]).toBe(1)
    expect(got[`cache_memory_entries{namespace="shop"}`]).toBe(2)
  })

  it('has a cache once, however often it is given, and not any more after stop() or close()', async () => {
    const registry = new Registry()
    const [one, two] = [opened(), opened({ namespace: 'other' })]
    prometheusMetrics({ cache: one, registry })
    const exported = prometheusMetrics({ cache: one, registry })
    prometheusMetrics({ cache: two, registry })
    await one.define({ name: 'item', load: (id: number) => id }).get(1)
    const loads = of('cache_load_seconds_count', { name: 'item' })
    expect((await scraped(registry))[loads]).toBe(1)
    exported.stop()
    await two.close()
    await anotherScrape()
    const text = await registry.metrics()
    expect(text).not.toMatch(/cache_requests_total\{/)
    expect(text).not.toMatch(/cache_store_up\{/)
  })

  it('may be cleared, and given the cache again', async () => {
    const registry = new Registry()
    const cache = opened()
    prometheusMetrics({ cache, registry })
    registry.clear()
    prometheusMetrics({ cache, registry })
    expect(Object.keys(await scraped(registry)).length).toBeGreaterThan(10)
  })

  it('takes other prefixes beside', async () => {
    const registry = new Registry()
    const cache = opened()
    prometheusMetrics({ cache, registry, prefix: 'a_' })
    prometheusMetrics({ cache, registry, prefix: 'b_cache_' })
    const got = await scraped(registry)
    expect(got['a_loads_running{namespace="shop"}']).toBe(0)
    expect(got['b_cache_loads_running{namespace="shop"}']).toBe(0)
    // Without a store there is none that could be up or down.
    expect(Object.keys(got).filter((name) => name.includes('store_up'))).toEqual([])
  })
})

describe('misuse', () => {
  const cache = createCache({ namespace: 'misuse', ttl: '1s' })
  it.each([
    ['no cache', { registry: new Registry() }, /prometheusMetrics\.cache: expected a cache/],
    ['a registry that is none', { cache, registry: {} }, /registry: expected a Registry/],
    ['a prefix with a dash', { cache, prefix: 'my-cache_' }, /prefix: expected text such as/],
    ['another option', { cache, labels: [] }, /labels/],
    [
      'buckets that fall',
      { cache, buckets: { load: [2, 1] } },
      /buckets\.load: expected a list of ascending/,
    ],
    ['buckets of nothing', { cache, buckets: { loads: [1] } }, /buckets\.loads.*load/],
  ])('%s is refused with a sentence', (_, options, sentence) => {
    expect(() => prometheusMetrics(options as never)).toThrow(sentence)
  })

  it('a name that is taken is told, before anything is registered', async () => {
    const registry = new Registry()
    new Counter({ name: 'cache_loads_total', help: 'mine', registers: [registry] })
    expect(() => prometheusMetrics({ cache, registry })).toThrow(
      /has a metric cache_loads_total already/,
    )
    expect(registry.getMetricsAsArray()).toHaveLength(1)
    prometheusMetrics({ cache, registry, prefix: 'breakwater_' }).stop()
  })
})
