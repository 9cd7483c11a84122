/**
 * The caches that one exporter tells of. What has the same labels in several of them (caches of one
 * namespace) is one series, merged as its metric says.
 *
 * Invariant: no counter falls while a cache of its namespace is open. What a closed one had counted
 * stays in the sums, or its end would look like a restart, and all that the others had counted like
 * news. With the last of a namespace its series end.
 */
import type { Cache } from '../api.ts'
import { metrics } from './catalogue.ts'
import type { Labels, Metric } from './metric.ts'
import { Watch, type Observed, type Snapshot } from './watch.ts'

export interface Sample {
  readonly labels: Record<string, string>
  value: number
}

/** By the values of its labels: the names are the metric's. */
type Samples = Map<string, Sample>

export class Watched {
  readonly #watches = new Map<Cache, Watch>()
  /** What closed caches had counted, whose namespace is still there. */
  readonly #past = new Map<Metric, Samples>()
  /** By namespace: names that those of its caches have had which are gone. */
  readonly #pastNames = new Map<string, Set<string>>()
  readonly #onGone: (namespace: string, names: Iterable<string>) => void

  /** `onGone`: the last cache of this namespace has left, whose definitions had these names. */
  constructor(onGone: (namespace: string, names: Iterable<string>) => void = () => {}) {
    this.#onGone = onGone
  }

  /** From now on, and once, however often it is given. Returns what ends that. */
  add(cache: Cache, observed: Observed): () => void {
    this.#leaveClosed((one) => one.isOver)
    this.#watches.get(cache)?.stop()
    const watch = new Watch(cache, observed)
    this.#watches.set(cache, watch)
    return () => this.#leave(cache, watch)
  }

  samplesOf(metric: Metric): Iterable<Sample> {
    this.#leaveClosed((one) => one.snapshot().health.status === 'closed')
    if (!this.#isMixed) {
      const alone: Sample[] = []
      for (const watch of this.#watches.values()) {
        const from = watch.snapshot()
        const { namespace } = from
        metric.read(from, (own, value) => alone.push({ labels: { namespace, ...own }, value }))
      }
      return alone
    }
    const samples: Samples = new Map()
    for (const { labels, value } of this.#past.get(metric)?.values() ?? []) {
      gather(samples, metric, labels, value)
    }
    for (const watch of this.#watches.values()) read(samples, metric, watch.snapshot())
    return samples.values()
  }

  end(): void {
    for (const watch of this.#watches.values()) watch.stop()
    this.#watches.clear()
  }

  /** Else no two caches have a series in common, and nothing need be looked for: most of a scrape's cost. */
  get #isMixed(): boolean {
    const namespaces = new Set([...this.#watches.keys()].map(({ namespace }) => namespace))
    return this.#pastNames.size > 0 || namespaces.size < this.#watches.size
  }

  #leaveClosed(isOver: (watch: Watch) => boolean): void {
    for (const [cache, watch] of this.#watches) {
      if (!isOver(watch)) continue
      const last = watch.snapshot()
      this.#leave(cache, watch)
      if (!this.#has(last.namespace)) continue
      for (const metric of metrics) {
        if (metric.type !== 'counter') continue
        const past: Samples = this.#past.get(metric) ?? new Map()
        this.#past.set(metric, past)
        read(past, metric, last)
      }
    }
  }

  #leave(cache: Cache, watch: Watch): void {
    watch.stop()
    if (this.#watches.get(cache) !== watch) return
    this.#watches.delete(cache)
    const { namespace } = cache
    const names = this.#pastNames.get(namespace) ?? new Set()
    for (const name of watch.labels) names.add(name)
    if (this.#has(namespace)) return void this.#pastNames.set(namespace, names)
    this.#pastNames.delete(namespace)
    for (const past of this.#past.values()) {
      for (const [id, { labels }] of past) if (labels['namespace'] === namespace) past.delete(id)
    }
    this.#onGone(namespace, names)
  }

  #has(namespace: string): boolean {
    return [...this.#watches.keys()].some((cache) => cache.namespace === namespace)
  }
}

function read(into: Samples, metric: Metric, from: Snapshot): void {
  const { namespace } = from
  metric.read(from, (own, value) => gather(into, metric, { namespace, ...own }, value))
}

function gather(into: Samples, metric: Metric, labels: Labels, value: number): void {
  const id = Object.values(labels).join('\0')
  const known = into.get(id)
  if (known === undefined) into.set(id, { labels: { ...labels }, value })
  else known.value = merges[metric.merge ?? 'sum'](known.value, value)
}

const merges = {
  sum: (one: number, other: number) => one + other,
  min: Math.min,
  max: Math.max,
}
