/** What the proxy counts beside its cache, for `/metrics`. */
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { FailureReason } from './failure.ts'

export interface Counters {
  readonly registry: Registry
  began(): void
  ended(request: { readonly status: number; readonly cache: string; readonly ms: number }): void
  asked(): void
  failed(reason: FailureReason): void
}

const seconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function countersOf(): Counters {
  const registers = [new Registry()]
  const [registry] = registers as [Registry]
  collectDefaultMetrics({ register: registry })
  const requests = new Counter({
    name: 'proxy_requests_total',
    help: 'Requests of clients, by status and by how the cache has answered.',
    labelNames: ['status', 'cache'],
    registers,
  })
  const running = new Gauge({
    name: 'proxy_requests_running',
    help: 'Requests of clients that are being answered.',
    registers,
  })
  const time = new Histogram({
    name: 'proxy_request_seconds',
    help: 'From a request’s head to the end of its answer.',
    labelNames: ['cache'],
    buckets: seconds,
    registers,
  })
  const origin = new Counter({
    name: 'proxy_origin_requests_total',
    help: 'Requests that the origin was sent.',
    registers,
  })
  const failures = new Counter({
    name: 'proxy_origin_failures_total',
    help: 'Requests that the origin has not answered, by reason.',
    labelNames: ['reason'],
    registers,
  })
  return {
    registry,
    began: () => running.inc(),
    ended: ({ status, cache, ms }) => {
      running.dec()
      requests.inc({ status, cache })
      time.observe({ cache }, ms / 1_000)
    },
    asked: () => origin.inc(),
    failed: (reason) => failures.inc({ reason }),
  }
}

/** `hit`, or why it was asked further, as the last member of `Cache-Status` says (RFC 9211): that one is ours. */
export function cacheWord(head: string): string {
  const field = /\r\ncache-status: ([^\r]*)/i.exec(head)?.[1] ?? ''
  const last = field.slice(field.lastIndexOf(',') + 1)
  if (/;\s*hit\b/.test(last)) return 'hit'
  return /;\s*fwd=([a-z-]+)/.exec(last)?.[1] ?? 'none'
}
