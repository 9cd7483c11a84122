// What an API process tells of its cache: to whoever scrapes /metrics, and to the collector that
// OTEL_EXPORTER_OTLP_ENDPOINT names, if it does.

import type { Cache } from 'breakwater'
import { prometheusMetrics } from 'breakwater/prometheus'
import { Registry } from 'prom-client'

export interface Telemetry {
  scrape(): Promise<{ type: string; text: string }>
  /** Runs it in a span of its own, so that it is seen who waited for whose load. */
  request<T>(route: string, run: () => Promise<T>): Promise<T>
}

/** Without a cache of breakwater's there is nothing to tell. */
export async function openTelemetry(cache: Cache | undefined): Promise<Telemetry> {
  const registry = new Registry()
  if (cache !== undefined) prometheusMetrics({ cache, registry })
  const hasCollector = (process.env['OTEL_EXPORTER_OTLP_ENDPOINT'] ?? '') !== ''
  // Not loaded without need: it would slow the start of every process.
  const otlp =
    cache === undefined || !hasCollector
      ? undefined
      : (await import('./otlp.ts')).exportByOtlp(cache)
  return {
    scrape: async () => ({ type: registry.contentType, text: await registry.metrics() }),
    request: (route, run) => otlp?.request(route, run) ?? run(),
  }
}
