/** The options of both exporters, checked before anything is registered. */
import type { Registry } from 'prom-client'
import type { Cache } from '../api.ts'
import { invalidOption } from '../core/errors.ts'
import { checkNames } from '../core/option-names.ts'
import { histograms, metrics, type HistogramOf } from './catalogue.ts'

/** Upper bounds, ascending. */
export interface Buckets {
  /** Of `load_seconds`. */
  load?: readonly number[] | undefined
  /** Of `lock_wait_seconds`. */
  waited?: readonly number[] | undefined
  /** Of `staleness_seconds`. */
  stale?: readonly number[] | undefined
  /** Of `load_callers`. */
  callers?: readonly number[] | undefined
  /** Of `verify_mismatch_age_seconds`. */
  mismatch?: readonly number[] | undefined
}

const which = new Set(Object.keys(histograms))

export function checkPrometheus(
  given: unknown,
  usual: Registry,
): { cache: Cache; registry: Registry; prefix: string; buckets: Buckets } {
  const of = 'prometheusMetrics'
  const names = new Set(['cache', 'registry', 'prefix', 'buckets'])
  const {
    cache,
    registry = usual,
    prefix = 'cache_',
    buckets,
  } = checkNames(given, { names }, `${of}.`)
  if (typeof prefix !== 'string' || !/^([a-zA-Z_:][a-zA-Z0-9_:]*)?$/.test(prefix)) {
    throw invalidOption(`${of}.prefix`, 'text such as "shop_cache_", of [a-zA-Z0-9_:]', prefix)
  }
  const { getSingleMetric } = (registry ?? {}) as Partial<Registry>
  if (typeof getSingleMetric !== 'function') {
    throw invalidOption(`${of}.registry`, 'a Registry of prom-client', registry)
  }
  return {
    cache: aCache(cache, of),
    registry: registry as Registry,
    prefix,
    buckets: checkBuckets(buckets, of),
  }
}

export function aCache(given: unknown, of: string): Cache {
  const { counters, health, on } = (given ?? {}) as Partial<Cache>
  if ([counters, health, on].every((method) => typeof method === 'function')) return given as Cache
  throw invalidOption(`${of}.cache`, 'a cache that createCache() gave', given)
}

export function checkBuckets(given: unknown, of: string): Buckets {
  if (given === undefined) return {}
  const buckets = checkNames(given, { names: which }, `${of}.buckets.`)
  for (const [name, bounds] of Object.entries(buckets)) {
    if (bounds === undefined) continue
    const isRight =
      Array.isArray(bounds) &&
      bounds.length > 0 &&
      bounds.every((bound, n) => Number.isFinite(bound) && (n === 0 || bound > bounds[n - 1]))
    if (!isRight) {
      throw invalidOption(`${of}.buckets.${name}`, 'a list of ascending numbers', bounds)
    }
  }
  return buckets
}

export function bucketsOf(given: Buckets): Readonly<Record<string, number[]>> {
  const all = Object.entries<HistogramOf>(histograms)
  return Object.fromEntries(
    all.map(([name, { buckets }]) => [name, [...(given[name as keyof Buckets] ?? buckets)]]),
  )
}

/** Throws where a name is taken by somebody else's metric. */
export function checkNamesFree(registry: Registry, prefix: string): void {
  const names = [...metrics, ...Object.values<HistogramOf>(histograms)].map(
    ({ name }) => prefix + name,
  )
  const taken = names.find((name) => registry.getSingleMetric(name) !== undefined)
  if (taken === undefined) return
  const expected = `a prefix of its own: the registry has a metric ${taken} already`
  throw invalidOption('prometheusMetrics.prefix', expected, prefix)
}
