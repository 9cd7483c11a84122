// Metrics and spans by OTLP/HTTP, once per second: a run is short, and its processes are killed.

import { context, metrics, SpanKind, trace } from '@opentelemetry/api'
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks'
import { OTLPMetricExporter } from '@opentelemetry/exporter-metrics-otlp-http'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { resourceFromAttributes } from '@opentelemetry/resources'
import { MeterProvider, PeriodicExportingMetricReader } from '@opentelemetry/sdk-metrics'
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base'
import type { Cache } from 'breakwater'
import { openTelemetry } from 'breakwater/opentelemetry'

const everyMs = 1_000

export function exportByOtlp(cache: Cache): {
  request<T>(route: string, run: () => Promise<T>): Promise<T>
} {
  const resource = resourceFromAttributes({
    'service.name': 'breakwater-lab',
    'service.instance.id': String(process.pid),
  })
  const reader = new PeriodicExportingMetricReader({
    exporter: new OTLPMetricExporter(),
    exportIntervalMillis: everyMs,
    exportTimeoutMillis: everyMs,
  })
  const spans = new BatchSpanProcessor(new OTLPTraceExporter(), { scheduledDelayMillis: everyMs })
  metrics.setGlobalMeterProvider(new MeterProvider({ resource, readers: [reader] }))
  trace.setGlobalTracerProvider(new BasicTracerProvider({ resource, spanProcessors: [spans] }))
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable())
  openTelemetry({ cache })
  const tracer = trace.getTracer('breakwater-lab')
  return {
    request: (route, run) =>
      tracer.startActiveSpan(route, { kind: SpanKind.SERVER }, (span) =>
        run().finally(() => span.end()),
      ),
  }
}
