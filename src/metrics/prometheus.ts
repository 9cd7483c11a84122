/**
 * `breakwater/prometheus`: everything that a cache counts, in a registry of prom-client. A scrape reads
 * what is counted anyway; only loads, waits and stale answers are observed as they happen, and hits
 * cost nothing more than without.
 *
 * One registry has each metric once, whatever the number of caches: they differ by their labels.
 */
import { Counter, Gauge, Histogram, register, type Registry } from 'prom-client'
import type { Cache } from '../api.ts'
import { histograms, metrics, type HistogramOf } from './catalogue.ts'
import type { Metric } from './metric.ts'
import { bucketsOf, checkNamesFree, checkPrometheus, type Buckets } from './metric-options.ts'
import type { Observed } from './watch.ts'
import { Watched } from './watched.ts'

export interface PrometheusOptions {
  cache: Cache
  /** Default: prom-client's global one. */
  registry?: Registry | undefined
  /** What all names begin with. Default `'cache_'`. */
  prefix?: string | undefined
  /** Upper bounds of the histograms' buckets: seconds; of `callers`, calls. Default: as in docs/metrics.md. */
  buckets?: Buckets | undefined
}

export interface Exported {
  /** This cache is told of no more. A closed cache leaves by itself. */
  stop(): void
}

/**
 * Tells of this cache in the registry. Throws `INVALID_OPTION`; also where a metric of such a name is
 * there already and is not ours.
 */
export function prometheusMetrics(options: PrometheusOptions): Exported {
  const { cache, registry, prefix, buckets } = checkPrometheus(options, register)
  const boards = byRegistry.get(registry) ?? new Map<string, Board>()
  byRegistry.set(registry, boards)
  let board = boards.get(prefix)
  if (board === undefined || !board.isThere) {
    board?.end()
    board = new Board(registry, prefix, bucketsOf(buckets))
    boards.set(prefix, board)
  }
  return board.add(cache)
}

const byRegistry = new WeakMap<Registry, Map<string, Board>>()

/** The metrics of one registry under one prefix, and the caches that they tell of. */
class Board {
  readonly #registry: Registry
  readonly #prefix: string
  readonly #histograms: Record<keyof typeof histograms, Histogram>
  readonly #watched = new Watched((namespace, names) => {
    for (const name of names) {
      for (const histogram of Object.values(this.#histograms)) histogram.remove({ namespace, name })
    }
  })

  constructor(registry: Registry, prefix: string, buckets: Readonly<Record<string, number[]>>) {
    checkNamesFree(registry, prefix)
    this.#registry = registry
    this.#prefix = prefix
    for (const metric of metrics) this.#register(metric)
    const made = Object.entries<HistogramOf>(histograms).map(([which, { name, help }]) => {
      const how = { name: prefix + name, help, registers: [registry] }
      const labelNames = ['namespace', 'name']
      return [which, new Histogram({ ...how, labelNames, buckets: buckets[which]! })]
    })
    this.#histograms = Object.fromEntries(made)
  }

  /** Somebody may have cleared the registry. */
  get isThere(): boolean {
    return this.#registry.getSingleMetric(this.#prefix + metrics[0]!.name) !== undefined
  }

  add(cache: Cache): Exported {
    return { stop: this.#watched.add(cache, this.#observing(cache.namespace)) }
  }

  end(): void {
    this.#watched.end()
  }

  #observing(namespace: string): Observed {
    const { load, callers, waited, stale, mismatch } = this.#histograms
    return {
      load: (name, ms) => load.observe({ namespace, name }, ms / 1_000),
      callers: (name, count) => callers.observe({ namespace, name }, count),
      waited: (name, ms) => waited.observe({ namespace, name }, ms / 1_000),
      stale: (name, ms) => stale.observe({ namespace, name }, ms / 1_000),
      mismatch: (name, ms) => mismatch.observe({ namespace, name }, ms / 1_000),
    }
  }

  #register(metric: Metric): void {
    const { name, help, type, merge = 'sum', labels } = metric
    const how = {
      name: this.#prefix + name,
      help,
      registers: [this.#registry],
      labelNames: ['namespace', ...labels],
    }
    const own = type === 'counter' ? new Counter(how) : new Gauge({ ...how, aggregator: merge })
    const { get } = own
    // Read when it is asked for. To put each value in, prom-client would hash its labels anew each time.
    own.get = async () => {
      const values = [...this.#watched.samplesOf(metric)]
      return { ...(await get.call(own)), values }
    }
  }
}
