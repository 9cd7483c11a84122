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
import type { Labels, Metric } from './metric.ts'
import { bucketsOf, checkNamesFree, checkPrometheus, type Buckets } from './metric-options.ts'
import { Watch, type Observed } from './watch.ts'

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
  readonly #watches = new Map<Cache, Watch>()
  readonly #histograms: Record<keyof typeof histograms, Histogram>

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
    this.#watches.get(cache)?.stop()
    const watch = new Watch(cache, this.#observing(cache.namespace))
    this.#watches.set(cache, watch)
    return {
      stop: () => {
        watch.stop()
        if (this.#watches.get(cache) === watch) this.#watches.delete(cache)
      },
    }
  }

  #observing(namespace: string): Observed {
    const { load, callers, waited, stale, mismatch } = this.#histograms
    return {
      load: (name, event) => {
        load.observe({ namespace, name }, event.ms / 1_000)
        callers.observe({ namespace, name }, event.callers)
      },
      waited: (name, ms) => waited.observe({ namespace, name }, ms / 1_000),
      stale: (name, ms) => stale.observe({ namespace, name }, ms / 1_000),
      mismatch: (name, ms) => mismatch.observe({ namespace, name }, ms / 1_000),
    }
  }

  #register({ name, help, type, merge, labels, read }: Metric): void {
    const how = {
      name: this.#prefix + name,
      help,
      registers: [this.#registry],
      labelNames: ['namespace', ...labels],
    }
    const metric =
      type === 'counter' ? new Counter(how) : new Gauge({ ...how, aggregator: merge ?? 'sum' })
    const { get } = metric
    // Read when it is asked for. To put each value in, prom-client would hash its labels anew each time.
    metric.get = async () => ({ ...(await get.call(metric)), values: this.#values(read) })
  }

  /** Of all caches; those of one namespace are summed up. */
  #values(read: Metric['read']): { labels: Record<string, string>; value: number }[] {
    const values: { labels: Record<string, string>; value: number }[] = []
    const namespaces = new Map<string, number>()
    for (const watch of this.#open()) {
      const from = watch.snapshot()
      const { namespace } = from
      const before = namespaces.get(namespace) ?? 0
      namespaces.set(namespace, before + 1)
      read(from, (own, value) => {
        const labels = { namespace, ...own }
        const known = before === 0 ? undefined : values.find((one) => isSame(one.labels, labels))
        if (known === undefined) values.push({ labels, value })
        else known.value += value
      })
    }
    return values
  }

  /** A cache that was closed leaves here. */
  #open(): Watch[] {
    for (const [cache, watch] of this.#watches) {
      if (!watch.isOver) continue
      watch.stop()
      this.#watches.delete(cache)
    }
    return [...this.#watches.values()]
  }
}

function isSame(one: Labels, other: Labels): boolean {
  const names = Object.keys(one)
  return names.length === Object.keys(other).length && names.every((n) => one[n] === other[n])
}
