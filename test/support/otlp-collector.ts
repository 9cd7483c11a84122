// A collector of OpenTelemetry's that takes OTLP/HTTP with JSON, and keeps what came.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

export interface Point {
  /** `service.instance.id` of who sent it. */
  readonly process: string
  readonly metric: string
  readonly attributes: Readonly<Record<string, string>>
  /** Of a histogram, its count. */
  readonly value: number
}

export interface SpanSeen {
  readonly process: string
  readonly name: string
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly attributes: Readonly<Record<string, string>>
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
}

export interface OtlpCollector {
  readonly url: string
  readonly points: readonly Point[]
  readonly spans: readonly SpanSeen[]
  close(): Promise<void>
}

export async function startOtlpCollector(): Promise<OtlpCollector> {
  const points: Point[] = []
  const spans: SpanSeen[] = []
  const server = createServer((request, response) => {
    void text(request).then((body) => {
      const sent = JSON.parse(body) as Sent
      for (const one of sent.resourceMetrics ?? []) points.push(...pointsOf(one))
      for (const one of sent.resourceSpans ?? []) spans.push(...spansOf(one))
      response.setHeader('content-type', 'application/json').end('{}')
    })
  })
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    points,
    spans,
    close: async () => {
      server.closeAllConnections()
      await new Promise((closed) => server.close(closed))
    },
  }
}

// As much of the format as is read here: opentelemetry-proto, in its JSON encoding.
interface Attribute {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string | number }
}

interface Resource {
  readonly resource: { readonly attributes: readonly Attribute[] }
}

interface DataPoint {
  readonly attributes: readonly Attribute[]
  readonly asInt?: string | number
  readonly asDouble?: number
  readonly count?: string | number
}

type Kind = 'sum' | 'gauge' | 'histogram'
type Measured = { readonly name: string } & {
  readonly [K in Kind]?: { readonly dataPoints: readonly DataPoint[] }
}

interface ResourceMetrics extends Resource {
  readonly scopeMetrics: readonly { readonly metrics: readonly Measured[] }[]
}

interface ResourceSpans extends Resource {
  readonly scopeSpans: readonly {
    readonly spans: readonly (Omit<SpanSeen, 'process' | 'attributes' | 'links'> & {
      readonly attributes: readonly Attribute[]
      readonly links?: SpanSeen['links']
    })[]
  }[]
}

interface Sent {
  readonly resourceMetrics?: readonly ResourceMetrics[]
  readonly resourceSpans?: readonly ResourceSpans[]
}

function pointsOf({ resource, scopeMetrics }: ResourceMetrics): Point[] {
  return scopeMetrics
    .flatMap(({ metrics }) => metrics)
    .flatMap(({ name, sum, gauge, histogram }) =>
      [sum, gauge, histogram]
        .flatMap((one) => one?.dataPoints ?? [])
        .map((point) => ({
          process: processOf(resource),
          metric: name,
          attributes: attributesOf(point.attributes),
          value: Number(point.asInt ?? point.asDouble ?? point.count),
        })),
    )
}

function spansOf({ resource, scopeSpans }: ResourceSpans): SpanSeen[] {
  return scopeSpans
    .flatMap(({ spans }) => spans)
    .map((span) => ({
      ...span,
      process: processOf(resource),
      attributes: attributesOf(span.attributes),
      links: span.links ?? [],
    }))
}

function attributesOf(all: readonly Attribute[]): Record<string, string> {
  return Object.fromEntries(
    all.map(({ key, value }) => [key, String(value.stringValue ?? value.intValue)]),
  )
}

function processOf({ attributes }: Resource['resource']): string {
  return attributesOf(attributes)['service.instance.id'] ?? ''
}
