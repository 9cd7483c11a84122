/**
 * `breakwater/opentelemetry`: the same metrics through OpenTelemetry's API, and spans of loads and of
 * those who wait for them. The API alone: which SDK there is, and where it exports to, is the
 * application's business; without one, all of this does nothing.
 */
import {
  metrics as globalMetrics,
  trace as globalTraces,
  type BatchObservableCallback,
  type Histogram,
  type Meter,
  type MeterProvider,
  type Observable,
  type TracerProvider,
} from '@opentelemetry/api'
import type { Cache } from '../api.ts'
import { engineOf } from '../cache/companions.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames } from '../core/option-names.ts'
import { histograms, metrics, type HistogramOf } from './catalogue.ts'
import type { Labels, Metric } from './metric.ts'
import { aCache, bucketsOf, checkBuckets, type Buckets } from './metric-options.ts'
import { traceLoads } from './spans.ts'
import { Watch, type Observed } from './watch.ts'

export interface OpenTelemetryOptions {
  cache: Cache
  /** `false`: no metrics. Default: the global one. */
  meterProvider?: MeterProvider | false | undefined
  /** `false`: no spans. Default: the global one. */
  tracerProvider?: TracerProvider | false | undefined
  /** What the names of metrics and attributes begin with. Default `'cache'`, as in `cache.requests`. */
  prefix?: string | undefined
  /** Whether spans have the entry's key. Default `true`. */
  keys?: boolean | undefined
  /** Upper bounds of the histograms' buckets: seconds; of `callers`, calls. Default: as in docs/metrics.md. */
  buckets?: Buckets | undefined
}

const of = 'openTelemetry'
const names = new Set(['cache', 'meterProvider', 'tracerProvider', 'prefix', 'keys', 'buckets'])

/** Tells of this cache. Returns what ends that; a closed cache ends it by itself. Throws `INVALID_OPTION`. */
export function openTelemetry(options: OpenTelemetryOptions): { stop(): void } {
  const given = checkNames(options, { names }, `${of}.`)
  const cache = aCache(given['cache'], of)
  const { prefix = 'cache', keys = true } = given
  const engine = engineOf(cache)
  if (engine === undefined) {
    throw invalidOption(`${of}.cache`, 'a cache of this copy of breakwater', cache)
  }
  if (typeof prefix !== 'string' || !/^[a-zA-Z][a-zA-Z0-9_.]*$/.test(prefix)) {
    throw invalidOption(`${of}.prefix`, 'text such as "shop.cache", of [a-zA-Z0-9_.]', prefix)
  }
  if (typeof keys !== 'boolean') throw invalidOption(`${of}.keys`, 'true or false', keys)
  const buckets = bucketsOf(checkBuckets(given['buckets'], of))
  const meters = provider<MeterProvider>('meterProvider', 'getMeter', given, globalMetrics)
  const tracers = provider<TracerProvider>('tracerProvider', 'getTracer', given, globalTraces)
  const stops = [
    meters && measure(cache, meters.getMeter('breakwater'), { prefix, buckets }),
    tracers && traceLoads(engine, tracers.getTracer('breakwater'), { prefix, keys }),
  ]
  return { stop: () => stops.forEach((stop) => stop?.()) }
}

function provider<P extends object>(
  option: string,
  method: keyof P,
  given: Readonly<Record<string, unknown>>,
  usual: P,
): P | undefined {
  const provided = given[option] ?? usual
  if (provided === false) return undefined
  if (typeof (provided as P)[method] === 'function') return provided as P
  throw invalidOption(`${of}.${option}`, `false, or an object with ${String(method)}()`, provided)
}

function measure(
  cache: Cache,
  meter: Meter,
  how: { readonly prefix: string; readonly buckets: Readonly<Record<string, number[]>> },
): () => void {
  const { prefix, buckets } = how
  const attributes = (own: Labels): Labels =>
    Object.fromEntries(Object.entries(own).map(([name, value]) => [`${prefix}.${name}`, value]))
  const { namespace } = cache
  const histogramOf = ({ otel, unit, help }: HistogramOf, boundaries: number[]): Histogram =>
    meter.createHistogram(`${prefix}.${otel}`, {
      unit,
      description: help,
      advice: { explicitBucketBoundaries: boundaries },
    })
  const made = Object.fromEntries(
    Object.entries<HistogramOf>(histograms).map(([which, histogram]) => {
      return [which, histogramOf(histogram, buckets[which]!)]
    }),
  ) as Record<keyof typeof histograms, Histogram>
  const observed: Observed = {
    load: (name, { ms, callers }) => {
      made.load.record(ms / 1_000, attributes({ namespace, name }))
      made.callers.record(callers, attributes({ namespace, name }))
    },
    waited: (name, ms) => made.waited.record(ms / 1_000, attributes({ namespace, name })),
    stale: (name, ms) => made.stale.record(ms / 1_000, attributes({ namespace, name })),
    mismatch: (name, ms) => made.mismatch.record(ms / 1_000, attributes({ namespace, name })),
  }
  const watch = new Watch(cache, observed)
  const all = metrics.map((metric) => [metric, observableOf(meter, prefix, metric)] as const)
  const collect: BatchObservableCallback = (result) => {
    if (watch.isOver) return stop()
    const from = watch.snapshot()
    for (const [{ read }, observable] of all) {
      read(from, (own, value) => {
        result.observe(observable, value, attributes({ namespace, ...own }))
      })
    }
  }
  const observables = all.map(([, observable]) => observable)
  meter.addBatchObservableCallback(collect, observables)
  function stop(): void {
    watch.stop()
    meter.removeBatchObservableCallback(collect, observables)
  }
  return stop
}

function observableOf(meter: Meter, prefix: string, metric: Metric): Observable {
  const { otel, unit, help, type } = metric
  const how = { unit, description: help }
  return type === 'counter'
    ? meter.createObservableCounter(`${prefix}.${otel}`, how)
    : meter.createObservableGauge(`${prefix}.${otel}`, how)
}
