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
import type { Engine } from '../cache/engine.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames } from '../core/option-names.ts'
import { histograms, metrics, type HistogramOf } from './catalogue.ts'
import type { Labels, Metric } from './metric.ts'
import { aCache, bucketsOf, checkBuckets, type Buckets } from './metric-options.ts'
import { traceLoads } from './spans.ts'
import { Watched } from './watched.ts'

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
  const meters = provider<MeterProvider>(
    'meterProvider',
    'getMeter',
    given,
    // The one of now: what was made of it is kept with it.
    globalMetrics.getMeterProvider(),
  )
  const tracers = provider<TracerProvider>('tracerProvider', 'getTracer', given, globalTraces)
  const stops = [
    meters && measure(cache, meters, { prefix, buckets }),
    tracers && traceOnce(engine, tracers, { prefix, keys }),
  ]
  return { stop: () => stops.forEach((stop) => stop?.()) }
}

const traced = new WeakMap<Engine, Map<TracerProvider, () => void>>()

/** A cache that is given again is traced as was said last, and not twice. */
function traceOnce(
  engine: Engine,
  tracers: TracerProvider,
  how: { readonly prefix: string; readonly keys: boolean },
): () => void {
  const byTracers = traced.get(engine) ?? new Map<TracerProvider, () => void>()
  traced.set(engine, byTracers)
  byTracers.get(tracers)?.()
  const stop = traceLoads(engine, tracers.getTracer('breakwater'), how)
  byTracers.set(tracers, stop)
  return stop
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

/** By provider and prefix: an observable is told of once per collection, whatever the number of caches. */
const byProvider = new WeakMap<MeterProvider, Map<string, Instruments>>()

interface Instruments {
  readonly watched: Watched
  readonly made: Record<keyof typeof histograms, Histogram>
}

function measure(
  cache: Cache,
  meters: MeterProvider,
  how: { readonly prefix: string; readonly buckets: Readonly<Record<string, number[]>> },
): () => void {
  const { prefix, buckets } = how
  const { namespace } = cache
  const byPrefix = byProvider.get(meters) ?? new Map<string, Instruments>()
  byProvider.set(meters, byPrefix)
  const known = byPrefix.get(prefix) ?? instruments(meters.getMeter('breakwater'), prefix, buckets)
  byPrefix.set(prefix, known)
  const { watched, made } = known
  const at = (name: string): Labels => attributes(prefix, { namespace, name })
  return watched.add(cache, {
    load: (name, ms) => made.load.record(ms / 1_000, at(name)),
    callers: (name, count) => made.callers.record(count, at(name)),
    waited: (name, ms) => made.waited.record(ms / 1_000, at(name)),
    stale: (name, ms) => made.stale.record(ms / 1_000, at(name)),
    mismatch: (name, ms) => made.mismatch.record(ms / 1_000, at(name)),
  })
}

function instruments(
  meter: Meter,
  prefix: string,
  buckets: Readonly<Record<string, number[]>>,
): Instruments {
  const made = Object.fromEntries(
    Object.entries<HistogramOf>(histograms).map(([which, { otel, unit, help }]) => {
      const advice = { explicitBucketBoundaries: buckets[which]! }
      const options = { unit, description: help, advice }
      return [which, meter.createHistogram(`${prefix}.${otel}`, options)]
    }),
  ) as Instruments['made']
  const watched = new Watched()
  const all = metrics.map((metric) => [metric, observableOf(meter, prefix, metric)] as const)
  const collect: BatchObservableCallback = (result) => {
    for (const [metric, observable] of all) {
      for (const { labels, value } of watched.samplesOf(metric)) {
        result.observe(observable, value, attributes(prefix, labels))
      }
    }
  }
  meter.addBatchObservableCallback(
    collect,
    all.map(([, observable]) => observable),
  )
  return { watched, made }
}

function attributes(prefix: string, own: Labels): Labels {
  return Object.fromEntries(
    Object.entries(own).map(([name, value]) => [`${prefix}.${name}`, value]),
  )
}

function observableOf(meter: Meter, prefix: string, metric: Metric): Observable {
  const { otel, unit, help, type } = metric
  const how = { unit, description: help }
  return type === 'counter'
    ? meter.createObservableCounter(`${prefix}.${otel}`, how)
    : meter.createObservableGauge(`${prefix}.${otel}`, how)
}
