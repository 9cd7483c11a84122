// What an attack on metrics, traces and the verifier has found: each with the right value, and a
// line on what went wrong.

import type { Span, TracerProvider } from '@opentelemetry/api'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import { Registry } from 'prom-client'
import { describe, expect, it, onTestFinished } from 'vitest'
import { engineOf } from '../../src/cache/companions.ts'
import type { LoadTracer } from '../../src/cache/traced.ts'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { openTelemetry } from '../../src/metrics/opentelemetry.ts'
import { prometheusMetrics } from '../../src/metrics/prometheus.ts'
import { manualClock, memoryStore } from '../../src/testing/index.ts'

function opened(options: Partial<CacheOptions> = {}): Cache {
  const cache = createCache({ namespace: 'shop', ttl: '60s', jitter: 0, ...options })
  onTestFinished(() => cache.close({ timeout: 0 }))
  return cache
}

const loading = (cache: Cache) => cache.define({ name: 'item', load: (id: number) => id })

describe('whoever looks on changes nothing', () => {
  // A tracer's throw was the load's failure, and one that never ended kept its callers for ever.
  it.each<[string, LoadTracer]>([
    ['throws', () => { throw new Error('tracer') }],
    ['throws after the load', (_, run) => run().then(() => { throw new Error('tracer') })],
    ['never ends', (_, run) => (void run(), new Promise(() => {}))],
    ['does not run it', () => new Promise(() => {})],
    ['runs it twice', (_, run) => run().then(run)],
  ])('a tracer that %s', async (_, tracer) => {
    const cache = opened()
    engineOf(cache)!.tracers.add(tracer)
    let loads = 0
    const item = cache.define({ name: 'item', load: (id: number) => (loads++, id) })
    expect(await item.get(7)).toBe(7)
    expect(loads).toBe(1)
  }) // prettier-ignore

  it('a tracer provider whose spans fail, nor an error that has no text', async () => {
    const startSpan = (): Span => { throw new Error('exporter') } // prettier-ignore
    const failing = { getTracer: () => ({ startSpan }) } as unknown as TracerProvider
    const cache = opened()
    openTelemetry({ cache, tracerProvider: failing, meterProvider: false })
    expect(await loading(cache).get(1)).toBe(1)
    // String() of it throws, and that was what callers got in its place.
    const wordless: unknown = Object.create(null)
    const spans = opened()
    openTelemetry({ cache: spans, meterProvider: false })
    const faulty = spans.define({ name: 'faulty', load: () => Promise.reject(wordless) }) // eslint-disable-line
    await expect(faulty.get()).rejects.toBe(wordless)
  })

  // Told within the same event again and again, without an end.
  it('a listener that listens anew each time is told once of each event', async () => {
    const cache = opened()
    let told = 0
    let stop = (): void => {}
    const anew = (): void => {
      stop()
      if (++told < 100) stop = cache.on('load', anew)
    }
    stop = cache.on('load', anew)
    await loading(cache).get(1)
    expect(told).toBe(1)
  })

  it('a listener that another one has taken off is not told', async () => {
    const cache = opened()
    let told = 0
    cache.on('load', () => stop())
    const stop = cache.on('load', () => told++)
    await loading(cache).get(1)
    expect(told).toBe(0)
  })
})

/** Lines of the exposition as a record. */
async function scraped(registry: Registry): Promise<Record<string, number>> {
  // A scrape reads what there was up to 20 ms ago.
  await new Promise((resolve) => setTimeout(resolve, 25))
  const lines = (await registry.metrics()).split('\n').filter((line) => /^[a-z]/.test(line))
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]),
  )
}

const loaded = 'cache_requests_total{namespace="shop",name="item",outcome="loaded",tier="source"}'

describe('two caches of one namespace', () => {
  it('have gauges that are not added up where that means nothing', async () => {
    const registry = new Registry()
    for (const store of [memoryStore(), memoryStore()]) {
      const cache = opened({ store })
      prometheusMetrics({ cache, registry })
      await loading(cache).get(1)
    }
    const got = await scraped(registry)
    expect(got['cache_store_up{namespace="shop"}']).toBe(1)
    // It was in the year 2083.
    const last = got['cache_last_load_timestamp_seconds{namespace="shop",name="item"}']!
    expect(Math.abs(last - Date.now() / 1_000)).toBeLessThan(60)
  })

  // The rest looked like a restart, and all that it had counted before like news.
  it('never count less than before while one of them is open, and nothing after the last', async () => {
    const registry = new Registry()
    const [one, two] = [opened(), opened()]
    for (const [cache, calls] of [[one, 5], [two, 3]] as const) {
      prometheusMetrics({ cache, registry })
      for (let id = 0; id < calls; id++) await (id === 0 ? loading(cache) : cache.define({ name: `${id}`, load: () => 1 })).get(id as never)
      await cache.getOrLoad('x', () => 1)
    } // prettier-ignore
    expect((await scraped(registry))[loaded]).toBe(2)
    await one.close()
    expect((await scraped(registry))[loaded]).toBe(2)
    await two.getOrLoad('y', () => 1)
    await two.close()
    // Histograms stayed for ever, those of each namespace that ever was.
    expect(Object.keys(await scraped(registry)).filter((line) => line.includes('shop'))).toEqual([])
  })

  it('two hundred that came and went leave nothing behind', async () => {
    const registry = new Registry()
    for (let n = 0; n < 200; n++) {
      const cache = opened({ namespace: `tenant-${n}` })
      prometheusMetrics({ cache, registry })
      await loading(cache).get(1)
      await cache.close()
    }
    expect(Object.keys(await scraped(registry)).filter((line) => line.includes('tenant'))).toEqual(
      [],
    )
  })

  // Each collection added all of it once more: 5, 10, 15, while nothing happened.
  it('are one series for OpenTelemetry too, and a cache that is given twice counts once', async () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 })
    const meterProvider = new MeterProvider({ readers: [reader] })
    onTestFinished(() => meterProvider.shutdown())
    for (const calls of [3, 5]) {
      const cache = opened()
      for (let n = 0; n < 2; n++) openTelemetry({ cache, meterProvider, tracerProvider: false })
      const item = loading(cache)
      for (let id = 0; id < calls; id++) await item.get(id)
    }
    const collected = async (name: string) => {
      exporter.reset()
      await new Promise((resolve) => setTimeout(resolve, 25))
      await meterProvider.forceFlush()
      return exporter
        .getMetrics()
        .flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
        .filter(({ descriptor }) => descriptor.name === name)
        .flatMap(({ dataPoints }) => dataPoints as { attributes: object; value: unknown }[])
        .filter(({ attributes }) => !('cache.outcome' in attributes) || attributes['cache.outcome'] === 'loaded')
        .filter(({ attributes }) => 'cache.name' in attributes && attributes['cache.name'] === 'item')
        .map(({ value }) => value) // prettier-ignore
    }
    expect(await collected('cache.requests')).toEqual([8])
    expect(await collected('cache.requests')).toEqual([8])
    expect(await collected('cache.load.duration')).toMatchObject([{ count: 8 }])
  })
})

function world(options: Partial<CacheOptions> = {}) {
  const clock = manualClock()
  const store = memoryStore()
  const after = (ms: number) => new Promise<void>((resolve) => void clock.after(ms, resolve))
  const process = (more: Partial<CacheOptions> = {}) => {
    const still = { ...clock, random: () => 0 }
    const cache = opened({ clock: still, store, earlyRefresh: false, ...options, ...more })
    const told: string[] = []
    cache.on('verified', ({ result }) => told.push(result))
    return { cache, told }
  }
  return { clock, after, process }
}

describe('callers of a load, and waits', () => {
  it('are those who still wait when it ends', async () => {
    const { clock, after, process } = world({ ttl: '10s', staleIfError: '1h' })
    const { cache } = process()
    const callers: number[] = []
    cache.on('load', (event) => callers.push(event.callers))
    const load = async (id: number) => (await after(100), id)
    const item = cache.define({ name: 'item', softTimeout: '20ms', load })
    const got = Promise.allSettled([item.get(1, { timeout: 10 }), item.get(1), item.get(1)])
    await clock.advance(200)
    await got
    await clock.advance('11s')
    const stale = Promise.all([item.get(1), item.get(1)])
    await clock.advance(200)
    await stale
    // Who gave up, and who had a stale value long ago, were counted.
    expect(callers).toEqual([2, 0])
  })

  // Only waits that ended well were told: the longest of all never were.
  it('are told whatever came of them, and only where a call waited', async () => {
    const { clock, after, process } = world({ waitTimeout: '200ms', staleWhileRevalidate: '1h' })
    const [here, there] = [process(), process()]
    const waits: number[] = []
    there.cache.on('waited', ({ ms }) => waits.push(ms))
    const [one, two] = [here, there].map(({ cache }) =>
      cache.define({
        name: 'item',
        load: async (how: 'fails' | 'slow' | 'well') => {
          await after(how === 'slow' ? 500 : 100)
          if (how === 'fails') throw new Error('down')
          return how
        },
      }),
    )
    for (const how of ['well', 'fails', 'slow'] as const) {
      const first = one!.get(how).catch(() => {})
      await clock.advance(5)
      const second = two!.get(how).catch(() => {})
      await clock.advance('1s')
      await Promise.all([first, second])
    }
    expect(waits).toEqual([95, 95, 200])
    await clock.advance('60s')
    const refreshing = Promise.all([one!.get('well'), two!.get('well')])
    await clock.advance('1s')
    await refreshing
    expect(waits).toHaveLength(3)
  })
})

describe('loads saved', () => {
  // Who had begun a load that failed, and got what there was, counted as if none had been needed.
  it('are of calls that began none', async () => {
    const { clock, process } = world({ ttl: '1s', staleIfError: '1h', errorBackoff: '10s' })
    const { cache } = process()
    const registry = new Registry()
    prometheusMetrics({ cache, registry })
    let fails = false
    const item = cache.define({
      name: 'item',
      load: async (id: number) => (fails ? Promise.reject(new Error('down')) : id),
    })
    await item.get(1)
    await clock.advance('2s')
    fails = true
    // The first of these loads, the others find its failure.
    for (let n = 0; n < 3; n++) expect(await item.get(1)).toBe(1)
    const got = await scraped(registry)
    expect(cache.counters()['item']).toMatchObject({ stale: 3, staleLoading: 1 })
    expect(got['cache_loads_saved_total{namespace="shop",name="item"}']).toBe(2)
  })
})

describe('the verifier', () => {
  const twice = async (get: () => Promise<unknown>, between = () => {}) => {
    await get()
    between()
    await get()
  }

  it('finds a row that is gone, whatever `equal` makes of nothing', async () => {
    const { clock, process } = world({ verify: 1 })
    const { cache, told } = process()
    let row: { id: number } | null = { id: 1 }
    // It threw, and that was taken for the same.
    const equal = (one: { id: number } | null, other: typeof one) => one!.id === other!.id
    const item = cache.define({ name: 'row', load: () => row, verify: { sample: 1, equal } })
    await twice(() => item.get(), () => (row = null)) // prettier-ignore
    await clock.advance('3s')
    expect(told).toEqual(['outdated'])
  })

  it('says neither where comparing fails, nor of what is not to be kept', async () => {
    const { clock, process } = world({ verify: 1 })
    const { cache, told } = process()
    const equal = (): boolean => { throw new Error('equal') } // prettier-ignore
    const item = cache.define({ name: 'one', load: () => 1, verify: { sample: 1, equal } })
    await twice(() => item.get())
    let isDown = false
    // A makeshift of a loader whose source is down was held against the value.
    const load = (_: number, ctx: { noStore(): void }) => (isDown ? (ctx.noStore(), 'less') : 'all')
    const other = cache.define({ name: 'two', load })
    await twice(() => other.get(1), () => (isDown = true)) // prettier-ignore
    await clock.advance('3s')
    expect(told).toEqual(['failed', 'failed'])
  })

  it('knows a value of the store again that callers share', async () => {
    const { clock, process } = world({ values: 'share' })
    const [writer, reader] = [process(), process({ verify: 1 })]
    class Price {
      readonly cents = 5
    }
    const [one, two] = [writer, reader].map(({ cache }) =>
      cache.define({ name: 'price', load: () => new Price() }),
    )
    await one!.get()
    await clock.advance(5)
    await twice(() => two!.get())
    await clock.advance('3s')
    expect(reader.told).toEqual(['same'])
  })

  it('accuses nobody of what another process has replaced, where memory keeps nothing', async () => {
    const { clock, process } = world()
    const [reader, writer] = [process({ verify: 1 }), process()]
    let version = 1
    const [one, two] = [reader, writer].map(({ cache }) =>
      cache.define({ name: 'item', memory: false, load: () => version }),
    )
    await one!.get()
    await clock.advance(5)
    version = 2
    await one!.get()
    await two!.refresh()
    await clock.advance('3s')
    expect(reader.told).toEqual(['overtaken'])
  })

  // Only calls without options were: a service that passes its request's signal had none verified.
  it('looks at hits of calls with a signal, and of lookup', async () => {
    const { clock, process } = world({ verify: 1 })
    const { cache, told } = process()
    const item = loading(cache)
    await item.get(1)
    await item.get(1, { signal: new AbortController().signal })
    await clock.advance('2s')
    await item.lookup(1)
    await clock.advance('2s')
    expect(told).toEqual(['same', 'same'])
  })

  // Each call's options had a sampler of their own, and `perSecond` held for none.
  it('looks at one-off keys as seldom as it was told, whatever objects say so', async () => {
    const { clock, process } = world()
    const { cache, told } = process()
    for (let n = 0; n < 50; n++) {
      await cache.getOrLoad('key', () => 1, { verify: { sample: 1, perSecond: 1 } })
      await clock.advance(10)
    }
    expect(told).toEqual(['same'])
  })

  it('takes no place that a caller may need', async () => {
    const { clock, after, process } = world({ limit: { concurrency: 1 } })
    const { cache } = process({ verify: 1 })
    const reasons: string[] = []
    const item = cache.define({
      name: 'item',
      load: async (id: number, { reason }) => (reasons.push(reason), await after(10), id),
    })
    for (const id of [1, 1, 2]) {
      const got = item.get(id)
      await clock.advance(20)
      await got
    }
    expect(reasons).toEqual(['miss', 'miss'])
  })

  it('is not what close() waits for: neither for its loader, nor for an invalidation to come', async () => {
    for (const hangs of [true, false]) {
      const { clock, process } = world({ verify: 1 })
      const { cache, told } = process()
      let value: unknown = 1
      const item = cache.define({
        name: 'item',
        load: (_: void, { reason }) =>
          hangs && reason === 'verify' ? new Promise(() => {}) : value,
      })
      await twice(() => item.get(), () => (value = 2)) // prettier-ignore
      await clock.advance(10)
      let isClosed = false
      const closing = cache.close({ timeout: '5s' }).then(() => (isClosed = true))
      await clock.advance(500)
      expect(isClosed).toBe(true)
      await closing
      expect(told).toEqual([])
    }
  })

  it('leaves alone what is too big to compare in one go, and what is made by schedule', async () => {
    const { clock, process } = world({ verify: 1 })
    const { cache, told } = process()
    const big = cache.define({ name: 'big', load: () => ['x'.repeat(300_000)] })
    await twice(() => big.get())
    let reads = 0
    const ahead = cache.define({
      name: 'ahead',
      ttl: '3m',
      load: () => reads++,
      precompute: { every: '60s', args: [undefined], onMiss: 'wait' } as never,
    })
    const got = ahead.get(undefined as never)
    await clock.advance('1s')
    await got
    await ahead.get(undefined as never)
    await clock.advance('3s')
    expect(told).toEqual([])
  })

  it('adds nothing to callers per load, nor to the time of the last success', async () => {
    const registry = new Registry()
    const { clock, process } = world({ verify: 1 })
    const { cache } = process()
    prometheusMetrics({ cache, registry })
    await twice(() => cache.getOrLoad('key', () => 1))
    await clock.advance(10)
    const got = await scraped(registry)
    const at = 'namespace="shop",name="(one-off)"'
    expect(got[`cache_loads_total{${at},reason="verify",result="ok"}`]).toBe(1)
    expect(got[`cache_load_callers_count{${at}}`]).toBe(1)
  })
})
