// The API in use with the SDK behind it: metrics through its in-memory exporter, spans through its
// recorder, with the context manager that applications have.

import { context, type Attributes } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SimpleSpanProcessor,
  type ReadableSpan,
} from '@opentelemetry/sdk-trace-base'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createCache, type Cache, type CacheOptions } from '../../src/index.ts'
import { openTelemetry } from '../../src/metrics/opentelemetry.ts'
import { memoryStore } from '../../src/testing/index.ts'

const spansOut = new InMemorySpanExporter()
const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new SimpleSpanProcessor(spansOut)],
})
const tracer = tracerProvider.getTracer('app')

beforeAll(() => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
})
afterAll(() => context.disable())
beforeEach(() => spansOut.reset())

function opened(options: Partial<CacheOptions> = {}): Cache {
  const cache = createCache({ namespace: 'shop', ttl: '60s', ...options })
  onTestFinished(() => cache.close({ timeout: 0 }))
  return cache
}

/** As a request of the application: its span around the call. */
function request<T>(name: string, run: () => Promise<T>): Promise<T> {
  return tracer.startActiveSpan(name, async (span) => {
    try {
      return await run()
    } finally {
      span.end()
    }
  })
}

const sleep = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))
const named = (name: string): ReadableSpan[] =>
  spansOut.getFinishedSpans().filter((span) => span.name === name)

describe('spans', () => {
  it('a load is in the trace of the call that began it, and what it does is inside of it', async () => {
    const cache = opened()
    openTelemetry({ cache, tracerProvider })
    const item = cache.define({
      name: 'item',
      load: async (id: number) => {
        await tracer.startActiveSpan('query', async (span) => (await sleep(1), span.end()))
        return id
      },
    })
    await request('GET /', () => item.get(1))
    const [parent, load, query] = ['GET /', 'cache.load item', 'query'].map(
      (name) => named(name)[0]!,
    )
    expect(load!.parentSpanContext?.spanId).toBe(parent!.spanContext().spanId)
    expect(query!.parentSpanContext?.spanId).toBe(load!.spanContext().spanId)
    expect(load!.attributes).toMatchObject({
      'cache.namespace': 'shop',
      'cache.name': 'item',
      'cache.key': item.key(1),
      'cache.load.reason': 'miss',
      'cache.load.unleased': 'local',
    })
  })

  it('who joined it has a span of the wait in their own trace, linked to that load', async () => {
    const cache = opened()
    openTelemetry({ cache, tracerProvider, keys: false })
    const item = cache.define({ name: 'item', load: async (id: number) => (await sleep(30), id) })
    await Promise.all([1, 2, 3].map((n) => request(`caller ${n}`, () => item.get(1))))
    const [load] = named('cache.load item')
    const waits = named('cache.wait item')
    expect(waits).toHaveLength(2)
    for (const wait of waits) {
      expect(wait.links.map(({ context: { spanId } }) => spanId)).toEqual([
        load!.spanContext().spanId,
      ])
      expect(wait.spanContext().traceId).not.toBe(load!.spanContext().traceId)
      expect(wait.attributes).toEqual({
        'cache.namespace': 'shop',
        'cache.name': 'item',
        'cache.wait.for': 'load',
      })
      const [seconds, nanos] = wait.duration
      expect(seconds * 1_000 + nanos / 1e6).toBeGreaterThan(10)
    }
  })

  it('who waited for another process knows its load by the token of the lease', async () => {
    const store = memoryStore()
    const [one, two] = [opened({ store }), opened({ store })]
    const [here, there] = [one, two].map((cache) => {
      openTelemetry({ cache, tracerProvider })
      return cache.define({ name: 'item', load: async (id: number) => (await sleep(40), id) })
    })
    await Promise.all([
      request('holder', () => here!.get(1)),
      sleep(10).then(() => request('waiter', () => there!.get(1))),
    ])
    const [load] = named('cache.load item')
    const [wait] = named('cache.wait item')
    expect(named('cache.load item')).toHaveLength(1)
    expect(load!.attributes['cache.lease']).toMatch(/./)
    expect(wait!.attributes).toMatchObject({
      'cache.wait.for': 'lease',
      'cache.lease': load!.attributes['cache.lease'],
    })
    expect(wait!.parentSpanContext?.spanId).toBe(named('waiter')[0]!.spanContext().spanId)
  })

  it('a load that failed says so, and by what', async () => {
    const cache = opened()
    openTelemetry({ cache, tracerProvider })
    const fault = Object.assign(new Error('no such host'), { code: 'ENOTFOUND' })
    const item = cache.define({ name: 'item', load: () => Promise.reject(fault) })
    await expect(item.get()).rejects.toBe(fault)
    const [load] = named('cache.load item')
    expect(load!.attributes['error.type']).toBe('ENOTFOUND')
    expect(load!.status).toMatchObject({ code: 2, message: 'no such host' })
  })

  it('a hit has none, and nothing after stop()', async () => {
    const cache = opened()
    const { stop } = openTelemetry({ cache, tracerProvider })
    const item = cache.define({ name: 'item', load: (id: number) => id })
    await item.get(1)
    spansOut.reset()
    await request('hit', () => item.get(1))
    expect(spansOut.getFinishedSpans().map(({ name }) => name)).toEqual(['hit'])
    stop()
    await item.get(2)
    expect(spansOut.getFinishedSpans().map(({ name }) => name)).toEqual(['hit'])
  })
})

describe('metrics', () => {
  async function collected(act: (meterProvider: MeterProvider) => Promise<void>) {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE)
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 })
    const meterProvider = new MeterProvider({ readers: [reader] })
    onTestFinished(() => meterProvider.shutdown())
    await act(meterProvider)
    await meterProvider.forceFlush()
    const all = exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap((scope) => scope.metrics)) // prettier-ignore
    return (name: string, attributes: Attributes): unknown =>
      all
        .find(({ descriptor }) => descriptor.name === name)
        ?.dataPoints.find((point) =>
          Object.entries(attributes).every(([key, value]) => point.attributes[key] === value),
        )?.value
  }

  it('are those of the catalogue, with names and units as OpenTelemetry has them', async () => {
    const valueOf = await collected(async (meterProvider) => {
      const cache = opened()
      openTelemetry({ cache, meterProvider, prefix: 'shop.cache' })
      const item = cache.define({ name: 'item', load: (id: number) => id })
      for (const id of [1, 1, 1, 2]) await item.get(id)
    })
    const name = 'item'
    const at = { 'shop.cache.namespace': 'shop', 'shop.cache.name': name }
    const hit = { ...at, 'shop.cache.outcome': 'hit', 'shop.cache.tier': 'memory' }
    expect(valueOf('shop.cache.requests', hit)).toBe(2)
    expect(valueOf('shop.cache.loads.saved', at)).toBe(2)
    expect(valueOf('shop.cache.load.duration', at)).toMatchObject({ count: 2 })
    expect(valueOf('shop.cache.memory.entries', { 'shop.cache.namespace': 'shop' })).toBe(2)
  })

  it('end with the cache', async () => {
    const valueOf = await collected(async (meterProvider) => {
      const cache = opened()
      openTelemetry({ cache, meterProvider })
      await cache.close()
    })
    expect(valueOf('cache.memory.entries', {})).toBeUndefined()
  })
})

describe('misuse', () => {
  const cache = createCache({ namespace: 'misuse', ttl: '1s' })
  it.each([
    ['no cache', {}, /openTelemetry\.cache: expected a cache/],
    ['something like a cache', { cache: { ...cache } }, /a cache of this copy of breakwater/],
    [
      'a provider that is none',
      { cache, meterProvider: {} },
      /meterProvider: expected false, or an object with getMeter/,
    ],
    ['a prefix with a blank', { cache, prefix: 'my cache' }, /prefix: expected text such as/],
    ['another option', { cache, meter: {} }, /meter/],
  ])('%s is refused with a sentence', (_, options, sentence) => {
    expect(() => openTelemetry(options as never)).toThrow(sentence)
  })
})
